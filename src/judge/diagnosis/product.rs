//! The product of matrices, by a library.

/// C = A · Bᵀ of row-major matrices with `depth` columns; rows of C lie `stride` elements apart. On one thread.
///
/// # Panics
/// When a slice is shorter than its matrix.
#[allow(unsafe_code, reason = "the gemm crate takes raw pointers; lengths are checked here")]
pub fn multiply(c: &mut [f64], stride: usize, a: &[f64], b: &[f64], (rows, columns, depth): (usize, usize, usize)) {
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    assert!(a.len() >= rows * depth && b.len() >= columns * depth && c.len() >= (rows - 1) * stride + columns);
    // SAFETY: the three slices hold rows × depth, columns × depth and rows × columns elements with these strides.
    unsafe {
        gemm_f64::gemm::f64::get_gemm_fn()(
            rows,
            columns,
            depth,
            c.as_mut_ptr(),
            1,
            stride as isize,
            false,
            a.as_ptr(),
            1,
            depth as isize,
            b.as_ptr(),
            depth as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}
