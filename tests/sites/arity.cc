//@ header arity.cuh
//@ case nine template arguments of ten, one with a default
//@ function fits
//@ template float | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8
//@ case eight are too few
//@ function too_few
//@ error K-ARITY-TEMPLATE
//@ error takes 9 to 10 template arguments, and 8 are given
//@ error arity.cuh:2:1
//@ case one function argument too many
//@ function too_many
//@ error K-ARITY-CALL
//@ error takes 2 arguments, and 3 are given
void fits() { code.e("ten<float, 1, 2, 3, 4, 5, 6, 7, $>(in, 3);", 8); }
void too_few() { code.e("ten<float, 1, 2, 3, 4, 5, 6, $>(in, 3);", 7); }
void too_many() { code.e("ten<float, 1, 2, 3, 4, 5, 6, 7, $>(in, 3, true);", 8); }
