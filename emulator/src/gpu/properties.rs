//! `cudaDeviceProp` of CUDA 13 and 12, as bytes.

use super::SimulatedGpu;

/// The fields behind `name`, `uuid`, `luid` and `luidDeviceNodeMask`, in order. `w`: 8 bytes, `i`: 4 bytes, `2` and `3`: 4 bytes,
/// in CUDA 12 and 13 only; the value is an attribute's, or one that this file fills in. Padding follows from alignment.
const FIELDS: &[(char, &str)] = &[
    ('w', "memory"),
    ('w', "MaxSharedMemoryPerBlock"),
    ('i', "MaxRegistersPerBlock"),
    ('i', "WarpSize"),
    ('w', "MaxPitch"),
    ('i', "MaxThreadsPerBlock"),
    ('i', "MaxBlockDimX"),
    ('i', "MaxBlockDimY"),
    ('i', "MaxBlockDimZ"),
    ('i', "MaxGridDimX"),
    ('i', "MaxGridDimY"),
    ('i', "MaxGridDimZ"),
    ('2', "ClockRate"),
    ('w', "TotalConstantMemory"),
    ('i', "ComputeCapabilityMajor"),
    ('i', "ComputeCapabilityMinor"),
    ('w', "TextureAlignment"),
    ('w', "TexturePitchAlignment"),
    ('2', "GpuOverlap"),
    ('i', "MultiProcessorCount"),
    ('2', "KernelExecTimeout"),
    ('i', "Integrated"),
    ('i', "CanMapHostMemory"),
    ('2', "ComputeMode"),
    ('i', "MaxTexture1DWidth"),
    ('i', "MaxTexture1DMipmappedWidth"),
    ('2', "MaxTexture1DLinearWidth"),
    ('i', "MaxTexture2DWidth"),
    ('i', "MaxTexture2DHeight"),
    ('i', "MaxTexture2DMipmappedWidth"),
    ('i', "MaxTexture2DMipmappedHeight"),
    ('i', "MaxTexture2DLinearWidth"),
    ('i', "MaxTexture2DLinearHeight"),
    ('i', "MaxTexture2DLinearPitch"),
    ('i', "MaxTexture2DGatherWidth"),
    ('i', "MaxTexture2DGatherHeight"),
    ('i', "MaxTexture3DWidth"),
    ('i', "MaxTexture3DHeight"),
    ('i', "MaxTexture3DDepth"),
    ('i', "MaxTexture3DWidthAlt"),
    ('i', "MaxTexture3DHeightAlt"),
    ('i', "MaxTexture3DDepthAlt"),
    ('i', "MaxTextureCubemapWidth"),
    ('i', "MaxTexture1DLayeredWidth"),
    ('i', "MaxTexture1DLayeredLayers"),
    ('i', "MaxTexture2DLayeredWidth"),
    ('i', "MaxTexture2DLayeredHeight"),
    ('i', "MaxTexture2DLayeredLayers"),
    ('i', "MaxTextureCubemapLayeredWidth"),
    ('i', "MaxTextureCubemapLayeredLayers"),
    ('i', "MaxSurface1DWidth"),
    ('i', "MaxSurface2DWidth"),
    ('i', "MaxSurface2DHeight"),
    ('i', "MaxSurface3DWidth"),
    ('i', "MaxSurface3DHeight"),
    ('i', "MaxSurface3DDepth"),
    ('i', "MaxSurface1DLayeredWidth"),
    ('i', "MaxSurface1DLayeredLayers"),
    ('i', "MaxSurface2DLayeredWidth"),
    ('i', "MaxSurface2DLayeredHeight"),
    ('i', "MaxSurface2DLayeredLayers"),
    ('i', "MaxSurfaceCubemapWidth"),
    ('i', "MaxSurfaceCubemapLayeredWidth"),
    ('i', "MaxSurfaceCubemapLayeredLayers"),
    ('w', "SurfaceAlignment"),
    ('i', "ConcurrentKernels"),
    ('i', "EccEnabled"),
    ('i', "PciBusId"),
    ('i', "PciDeviceId"),
    ('i', "PciDomainId"),
    ('i', "TccDriver"),
    ('i', "AsyncEngineCount"),
    ('i', "UnifiedAddressing"),
    ('2', "MemoryClockRate"),
    ('i', "GlobalMemoryBusWidth"),
    ('i', "L2CacheSize"),
    ('i', "MaxPersistingL2CacheSize"),
    ('i', "MaxThreadsPerMultiProcessor"),
    ('i', "StreamPrioritiesSupported"),
    ('i', "GlobalL1CacheSupported"),
    ('i', "LocalL1CacheSupported"),
    ('w', "MaxSharedMemoryPerMultiprocessor"),
    ('i', "MaxRegistersPerMultiprocessor"),
    ('i', "ManagedMemory"),
    ('i', "IsMultiGpuBoard"),
    ('i', "MultiGpuBoardGroupID"),
    ('i', "HostNativeAtomicSupported"),
    ('2', "SingleToDoublePrecisionPerfRatio"),
    ('i', "PageableMemoryAccess"),
    ('i', "ConcurrentManagedAccess"),
    ('i', "ComputePreemptionSupported"),
    ('i', "CanUseHostPointerForRegisteredMem"),
    ('i', "CooperativeLaunch"),
    ('2', "cooperative launch on several devices"),
    ('w', "MaxSharedMemoryPerBlockOptin"),
    ('i', "PageableMemoryAccessUsesHostPageTables"),
    ('i', "DirectManagedMemAccessFromHost"),
    ('i', "MaxBlocksPerMultiprocessor"),
    ('i', "MaxAccessPolicyWindowSize"),
    ('w', "ReservedSharedMemoryPerBlock"),
    ('i', "HostRegisterSupported"),
    ('i', "SparseCudaArraySupported"),
    ('i', "HostRegisterReadOnlySupported"),
    ('i', "TimelineSemaphoreInteropSupported"),
    ('i', "MemoryPoolsSupported"),
    ('i', "GPUDirectRDMASupported"),
    ('i', "GPUDirectRDMAFlushWritesOptions"),
    ('i', "GPUDirectRDMAWritesOrdering"),
    ('i', "MemoryPoolSupportedHandleTypes"),
    ('i', "DeferredMappingCudaArraySupported"),
    ('i', "IpcEventSupport"),
    ('i', "ClusterLaunch"),
    ('i', "unified function pointers"),
    ('3', "NumaConfig"),
    ('3', "NumaId"),
    ('3', "MpsEnabled"),
    ('3', "HostNumaId"),
    ('3', "GpuPciDeviceId"),
    ('3', "GpuPciSubsystemId"),
    ('3', "HostNumaMultinodeIpcSupported"),
];

/// Where the fields start: after 256 bytes of name, 16 of uuid, 8 of luid and 4 of its mask.
const FIRST: usize = 284;

impl SimulatedGpu {
    /// The device's properties as `cudaGetDeviceProperties` of this major version of CUDA writes them.
    pub fn properties(&self, cuda_major: u64) -> Vec<u8> {
        let (absent, whole) = if cuda_major == 12 { ('3', 1032) } else { ('2', 1008) };
        let mut bytes = self.name.as_bytes().to_vec();
        bytes.truncate(255);
        bytes.resize(FIRST, 0);
        for &(kind, field) in FIELDS.iter().filter(|(kind, _)| *kind != absent) {
            let size = if kind == 'w' { 8 } else { 4 };
            bytes.resize(bytes.len().next_multiple_of(size), 0);
            let value = if field == "memory" { self.memory } else { self.named(field) as u64 };
            bytes.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        bytes.resize(whole, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;

    #[test]
    fn fields_lie_where_the_headers_put_them() {
        let bytes = SimulatedGpu::for_arch(Arch::parse("sm_103a").unwrap()).unwrap().properties(13);
        let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // Offsets from offsetof() with the CUDA 13.0 headers.
        assert_eq!((int(360), int(364)), (10, 3), "major, minor");
        assert_eq!(int(552), 512, "surfaceAlignment");
        assert_eq!(int(596), 132644864, "l2CacheSize");
        assert_eq!(int(624), 233472, "sharedMemPerMultiprocessor");
        assert_eq!(int(672), 232448, "sharedMemPerBlockOptin");
        assert_eq!(int(696), 1024, "reservedSharedMemPerBlock");
        assert_eq!(int(748), 1, "clusterLaunch");
        assert!(bytes.starts_with(b"krepro CPU backend (B300, sm_103a, emulated)\0"));
        assert_eq!(bytes.len(), 1008);
    }

    #[test]
    fn fields_of_cuda_12_lie_where_its_headers_put_them() {
        let bytes = SimulatedGpu::for_arch(Arch::parse("sm_90a").unwrap()).unwrap().properties(12);
        let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // Offsets from offsetof() with the CUDA 12.8 headers.
        assert_eq!((int(360), int(364)), (9, 0), "major, minor");
        assert_eq!(int(568), 512, "surfaceAlignment");
        assert_eq!(int(616), 62914560, "l2CacheSize");
        assert_eq!(int(640), 233472, "sharedMemPerMultiprocessor");
        assert_eq!(int(696), 232448, "sharedMemPerBlockOptin");
        assert_eq!(int(720), 1024, "reservedSharedMemPerBlock");
        assert_eq!(int(772), 1, "clusterLaunch");
        assert_eq!(bytes.len(), 1032);
    }
}
