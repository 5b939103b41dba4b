//! Error codes of the runtime and the driver interface, which share their numbers.

/// Success.
pub(crate) const SUCCESS: i32 = 0;
/// `cudaErrorInvalidValue`.
pub(crate) const INVALID_VALUE: i32 = 1;
/// `cudaErrorMemoryAllocation`.
pub(crate) const OUT_OF_MEMORY: i32 = 2;
/// `cudaErrorInvalidConfiguration`.
pub(crate) const INVALID_CONFIGURATION: i32 = 9;
/// `cudaErrorInvalidSymbol`.
pub(crate) const INVALID_SYMBOL: i32 = 13;
/// `cudaErrorInvalidDeviceFunction`.
pub(crate) const INVALID_FUNCTION: i32 = 98;
/// `cudaErrorInvalidKernelImage`.
pub(crate) const INVALID_IMAGE: i32 = 200;
/// `cudaErrorNoKernelImageForDevice`.
pub(crate) const NO_IMAGE: i32 = 209;
/// `cudaErrorInvalidPtx`.
pub(crate) const INVALID_PTX: i32 = 218;
/// `cudaErrorInvalidResourceHandle`.
pub(crate) const INVALID_HANDLE: i32 = 400;
/// `cudaErrorSymbolNotFound`.
pub(crate) const NOT_FOUND: i32 = 500;
/// `cudaErrorIllegalAddress`.
pub(crate) const ILLEGAL_ADDRESS: i32 = 700;
/// `cudaErrorLaunchTimeout`: what a launch that can never end gives here.
pub(crate) const LAUNCH_TIMEOUT: i32 = 702;
/// `cudaErrorAssert`.
pub(crate) const ASSERT: i32 = 710;
/// `cudaErrorMisalignedAddress`.
pub(crate) const MISALIGNED_ADDRESS: i32 = 716;
/// `cudaErrorLaunchFailure`.
pub(crate) const LAUNCH_FAILURE: i32 = 719;
/// `cudaErrorCooperativeLaunchTooLarge`.
pub(crate) const COOPERATIVE_TOO_LARGE: i32 = 720;
/// `cudaErrorNotSupported`.
pub(crate) const NOT_SUPPORTED: i32 = 801;
/// `cudaErrorInvalidClusterSize`.
pub(crate) const INVALID_CLUSTER_SIZE: i32 = 912;

/// Number, runtime name without `cudaError`, driver name without `CUDA_ERROR_` (empty: the runtime's alone), text.
const ERRORS: &[(i32, &str, &str, &str)] = &[
    (1, "InvalidValue", "INVALID_VALUE", "invalid argument"),
    (2, "MemoryAllocation", "OUT_OF_MEMORY", "out of memory"),
    (3, "InitializationError", "NOT_INITIALIZED", "initialization error"),
    (9, "InvalidConfiguration", "", "invalid configuration argument"),
    (12, "InvalidPitchValue", "", "invalid pitch argument"),
    (13, "InvalidSymbol", "", "invalid device symbol"),
    (21, "InvalidMemcpyDirection", "", "invalid copy direction for memcpy"),
    (52, "MissingConfiguration", "", "__global__ function call is not configured"),
    (98, "InvalidDeviceFunction", "", "invalid device function"),
    (100, "NoDevice", "NO_DEVICE", "no CUDA-capable device is detected"),
    (101, "InvalidDevice", "INVALID_DEVICE", "invalid device ordinal"),
    (200, "InvalidKernelImage", "INVALID_IMAGE", "device kernel image is invalid"),
    (201, "DeviceUninitialized", "INVALID_CONTEXT", "invalid device context"),
    (209, "NoKernelImageForDevice", "NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"),
    (215, "UnsupportedLimit", "UNSUPPORTED_LIMIT", "limit is not supported on this architecture"),
    (218, "InvalidPtx", "INVALID_PTX", "a PTX JIT compilation failed"),
    (301, "FileNotFound", "FILE_NOT_FOUND", "file not found"),
    (400, "InvalidResourceHandle", "INVALID_HANDLE", "invalid resource handle"),
    (500, "SymbolNotFound", "NOT_FOUND", "named symbol not found"),
    (600, "NotReady", "NOT_READY", "device not ready"),
    (700, "IllegalAddress", "ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    (701, "LaunchOutOfResources", "LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"),
    (702, "LaunchTimeout", "LAUNCH_TIMEOUT", "the launch timed out and was terminated"),
    (710, "Assert", "ASSERT", "device-side assert triggered"),
    (715, "IllegalInstruction", "ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"),
    (716, "MisalignedAddress", "MISALIGNED_ADDRESS", "misaligned address"),
    (719, "LaunchFailure", "LAUNCH_FAILED", "unspecified launch failure"),
    (720, "CooperativeLaunchTooLarge", "COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"),
    (801, "NotSupported", "NOT_SUPPORTED", "operation not supported"),
    (912, "InvalidClusterSize", "INVALID_CLUSTER_SIZE", "cluster misconfiguration"),
    (999, "Unknown", "UNKNOWN", "unknown error"),
];

fn entry(code: i32) -> Option<&'static (i32, &'static str, &'static str, &'static str)> {
    ERRORS.iter().find(|(known, ..)| *known == code)
}

/// `cudaErrorInvalidValue` and so on; empty for a code that has no name here.
pub(crate) fn runtime_name(code: i32) -> String {
    match code {
        SUCCESS => "cudaSuccess".into(),
        _ => entry(code).map(|(_, name, ..)| format!("cudaError{name}")).unwrap_or_default(),
    }
}

/// `CUDA_ERROR_INVALID_VALUE` and so on; empty for a code that the driver does not have.
pub(crate) fn driver_name(code: i32) -> String {
    match code {
        SUCCESS => "CUDA_SUCCESS".into(),
        _ => match entry(code) {
            Some((_, _, name, _)) if !name.is_empty() => format!("CUDA_ERROR_{name}"),
            _ => String::new(),
        },
    }
}

/// The error in words; empty for a code that has none here.
pub(crate) fn text(code: i32) -> &'static str {
    match code {
        SUCCESS => "no error",
        _ => entry(code).map_or("", |(.., text)| text),
    }
}
