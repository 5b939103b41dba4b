//! Debug outputs written afresh in the forms that frameworks print.

use super::read;
use crate::model::Swizzle;
use crate::source::Source;

const OUTPUT: &str = "\
Making TMA desc: global memory: 4096 128, shared memory: 64 128, outer stride: 4096, swizzle: 128 (base: 0), elem size: 2, pointer: 139
Making 3D TMA desc: global memory: 8 16 32, shared memory: 8 16 1, outer stride: 8 128, swizzle: 0, elem size: 4
Generated kernel code:

#include <impl.cuh>
using namespace gemm;
static void __instantiate_kernel() {
    auto ptr = reinterpret_cast<void*>(&gemm_impl<
        128, 64 // a { comment
    >);
};

Running NVCC command: nvcc -O3 a=1
  > _ZN4gemm9gemm_implILi128ELi64EEEvPfi, stack_size = 7
Launch kernel with {132, 1} x 384, shared memory: 212992 bytes, cluster: 2, pdl: 0, stream: 0
gmem_prob_shape: 64, 32, 1, 1, 1
gmem_prob_stride: 2, 128, 0, 0, 0
smem_box_shape: 64, 8, 1, 1, 1
format         9
globalDim      (96,24)
globalStrides  (192)
boxDim         (32,24)
swizzle        2
op->rows = 24, wide: true, rows==3, a.b[0]=-1; ratio=0.5e1
rows=7 rows=8 stack_size = 7
Launch kernel with {8} x 128, shared memory: 0 bytes
";

fn values(list: &[crate::model::Fact<u64>]) -> Vec<u64> {
    list.iter().map(|fact| fact.value).collect()
}

#[test]
fn descriptors_of_every_form_with_their_places() {
    let prints = read(&Source::new("run.log", OUTPUT));
    assert_eq!(prints.maps.len(), 4);
    let first = &prints.maps[0];
    assert_eq!((values(&first.global_dim), values(&first.global_strides)), (vec![4096, 128], vec![8192]));
    assert_eq!((values(&first.box_dim), first.element_bytes), (vec![64, 128], Some(2)));
    assert_eq!(first.swizzle.as_ref().map(|s| s.value), Some(Swizzle::B128));
    assert_eq!(first.global_dim[1].origin.detail(), "run.log:1:38");
    assert_eq!(values(&prints.maps[1].global_strides), [32, 512]);
    let third = &prints.maps[2];
    assert_eq!((values(&third.global_strides), third.element_bytes), (vec![128, 0, 0, 0], Some(2)));
    assert_eq!((third.swizzle.clone(), third.line), (None, 16));
    let fourth = &prints.maps[3];
    assert_eq!(fourth.data_type.as_deref(), Some("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"));
    assert_eq!(fourth.swizzle.as_ref().map(|s| s.value), Some(Swizzle::B64));
}

#[test]
fn code_keeps_its_lines_and_is_no_print() {
    let prints = read(&Source::new("run.log", OUTPUT));
    let [code] = &prints.code[..] else { panic!("{} texts", prints.code.len()) };
    assert_eq!(code.first_line(), 4);
    assert!(code.text().trim_end().ends_with("};") && code.text().contains("128, 64"), "{}", code.text());
    assert_eq!(prints.symbols[0].value, "_ZN4gemm9gemm_implILi128ELi64EEEvPfi");
}

#[test]
fn launches_take_the_descriptors_before_them() {
    let prints = read(&Source::new("run.log", OUTPUT));
    let [first, second] = &prints.launches[..] else { panic!("{} launches", prints.launches.len()) };
    assert_eq!((values(&first.grid), first.threads.value, first.shared_memory.value), (vec![132, 1, 1], 384, 212_992));
    assert_eq!(first.cluster.as_ref().map(|c| c.value), Some(2));
    assert_eq!((values(&second.grid), second.cluster.clone()), (vec![8, 1, 1], None));
    let lines = |launch| prints.maps_of(launch).iter().map(|map| map.line).collect::<Vec<_>>();
    assert_eq!((lines(Some(0)), lines(Some(1)), lines(None).len()), (vec![1, 2], vec![16, 19], 4));
}

#[test]
fn a_name_with_two_values_is_no_leaf() {
    let prints = read(&Source::new("run.log", OUTPUT));
    let leaves = prints.leaves();
    let value = |name: &str| leaves.get(name).map(|fact| fact.value.as_str());
    assert_eq!(value("op->rows"), Some("24"));
    assert_eq!((value("wide"), value("a.b[0]"), value("ratio")), (Some("true"), Some("-1"), Some("0.5e1")));
    assert_eq!((value("rows"), value("stack_size")), (None, Some("7")));
    assert_eq!(prints.values["rows"].len(), 2);
    assert_eq!(leaves["op->rows"].origin.detail(), "run.log:24:12");
    read(&Source::new("-", b"\xff\xfe = 3\n=\n: \n_Z".to_vec()));
}
