//! The operations of the protocol; the C side's header is made from the same table.

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident = $value:literal, $c_name:literal;)*) => {
        /// One operation: its arguments, and after the arrow its results. `blob` is the message's or answer's bytes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Operation { $($(#[$doc])* $variant),* }

        impl Operation {
            /// Every operation.
            #[cfg(test)]
            pub(crate) const ALL: &[Operation] = &[$(Operation::$variant),*];

            /// The operation with this number.
            pub(crate) fn from_number(number: u32) -> Option<Self> {
                match number { $($value => Some(Operation::$variant),)* _ => None }
            }

            /// Its name in C.
            #[cfg(test)]
            pub(crate) fn c_name(self) -> &'static str {
                match self { $(Operation::$variant => $c_name),* }
            }
        }

        /// The C enumeration.
        pub(crate) fn c_enumeration() -> String {
            let mut text = String::from("enum {\n");
            $(text.push_str(concat!("    KREPRO_", $c_name, " = ", $value, ",\n"));)*
            text.push_str("};\n");
            text
        }
    };
}

operations! {
    /// pid; blob: the shim's identity.
    Hello = 1, "HELLO";
    /// blob: name of a function that the shim does not have.
    Missing = 2, "MISSING";
    /// blob: a sentence about a use that is not possible.
    Refused = 3, "REFUSED";
    /// 0; blob: image → module.
    Load = 4, "LOAD";
    /// module; blob: container of a separately compiled unit.
    AddUnit = 5, "ADD_UNIT";
    /// module.
    Unload = 6, "UNLOAD";
    /// module, host address; blob: name.
    RegisterFunction = 7, "REGISTER_FUNCTION";
    /// module, host address, size; blob: name.
    RegisterVariable = 8, "REGISTER_VARIABLE";
    /// host address → kernel, module, parameter count, parameter bytes; blob: (u32 offset, u32 size) each, then the name.
    KernelByHost = 9, "KERNEL_BY_HOST";
    /// module; blob: name → as `KernelByHost`.
    KernelByName = 10, "KERNEL_BY_NAME";
    /// module → count.
    KernelCount = 11, "KERNEL_COUNT";
    /// module, index → blob: name.
    KernelName = 12, "KERNEL_NAME";
    /// module; blob: name → address, size.
    Global = 13, "GLOBAL";
    /// host address → address, size.
    Symbol = 14, "SYMBOL";
    /// kernel, attribute → value.
    FunctionAttribute = 15, "FUNCTION_ATTRIBUTE";
    /// kernel, attribute, value.
    SetFunctionAttribute = 16, "SET_FUNCTION_ATTRIBUTE";
    /// kernel, grid xyz, block xyz, cluster xyz (0: the kernel's own), dynamic shared bytes, flags; blob: parameters.
    Launch = 17, "LAUNCH";
    /// nothing; delivers the error of earlier launches.
    Synchronize = 18, "SYNCHRONIZE";
    /// nothing; frees everything.
    Reset = 19, "RESET";
    /// size → address.
    Allocate = 20, "ALLOCATE";
    /// address.
    Free = 21, "FREE";
    /// address, pitch, width, height; blob: rows without gaps.
    Write = 22, "WRITE";
    /// address, pitch, width, height → blob: rows without gaps.
    Read = 23, "READ";
    /// to, pitch, from, pitch, width, height.
    Copy = 24, "COPY";
    /// address, pitch, value, element size, columns, rows.
    Fill = 25, "FILL";
    /// address → whether it is the device's, its allocation's start, size.
    Address = 26, "ADDRESS";
    /// nothing → free, total.
    MemoryInfo = 27, "MEMORY_INFO";
    /// number → value.
    DeviceAttribute = 28, "DEVICE_ATTRIBUTE";
    /// major version of CUDA → blob: its `cudaDeviceProp`.
    DeviceProperties = 29, "DEVICE_PROPERTIES";
    /// nothing → blob: text.
    DeviceName = 30, "DEVICE_NAME";
    /// code → blob: `cudaError…`.
    ErrorName = 31, "ERROR_NAME";
    /// code → blob: `CUDA_ERROR_…`.
    DriverErrorName = 32, "DRIVER_ERROR_NAME";
    /// code → blob: text.
    ErrorText = 33, "ERROR_TEXT";
    /// element, rank, address, interleave, swizzle, L2 promotion, fill; blob: u64 each of 5 extents, 4 strides, 5 of the
    /// box, 5 element strides → blob: the 128 bytes.
    EncodeTensorMap = 34, "ENCODE_TENSOR_MAP";
    /// address; blob: the 128 bytes → blob: the 128 bytes.
    ReplaceTensorMapAddress = 35, "REPLACE_TENSOR_MAP_ADDRESS";
    /// kernel, threads, dynamic shared bytes → blocks on one multiprocessor.
    Occupancy = 36, "OCCUPANCY";
    /// kernel, threads, dynamic shared bytes, blocks of a cluster → largest cluster, clusters on the device.
    ClusterOccupancy = 37, "CLUSTER_OCCUPANCY";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_the_c_header_agree() {
        let header = c_enumeration();
        for (at, &operation) in Operation::ALL.iter().enumerate() {
            let number = at as u32 + 1;
            assert_eq!(Operation::from_number(number), Some(operation));
            assert!(header.contains(&format!("KREPRO_{} = {number},", operation.c_name())), "{header}");
        }
        assert_eq!(Operation::from_number(0), None);
    }
}
