//! Fill code written afresh in the two styles that are seen: a switch over tasks with a template that encodes, and layered
//! helpers under a checking macro.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluate;
use crate::diag::draw;
use crate::model::Swizzle;
use crate::read::prints::PrintedMap;
use crate::source::Source;

const SWITCH: &str = r#"
using bf = type::bfloat16_t;
template <typename T, int B, int RANK>
static void fill(CUtensorMap *map, void *const src, uint64_t const (&shape)[RANK], uint64_t const (&stride)[RANK],
                 uint32_t const (&tile)[RANK]) {
  constexpr CUtensorMapDataType format = std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                       : std::is_same_v<T, type::bfloat16_t> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                             : CUtensorMapDataType(-1);
  uint64_t extents[3];
  uint64_t bytes[3];
  uint32_t boxes[3];
  if constexpr (RANK == 2) {
    extents[0] = shape[1];
    extents[1] = shape[0];
    extents[2] = 1;
    bytes[0] = sizeof(T);
    bytes[1] = stride[1] * sizeof(T);
    bytes[2] = 0;
    for (int i = 0; i < 2; ++i) boxes[i] = tile[1 - i];
    boxes[2] = 1;
  } else {
    assert(false);
  }
  if ((reinterpret_cast<uint64_t>(src) & 15) != 0) {
    printf("unaligned %p\n", src);
  }
  assert(boxes[1] <= 256);
  uint64_t const *first = &extents[0];
  uint64_t const *second = &bytes[0];
  CUresult result = cuTensorMapEncodeTiled(map, format, 3, src, first, second + 1, boxes, ones, CU_NONE,
                                           B == 3 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_FILL);
  if (result != CUDA_SUCCESS) {
    return;
  }
}

void fill_by_task(CUtensorMap *map, Task const &task, Tensor const &tensor, size_t id, size_t part = 0) {
  switch (task.kind) {
    case TASK_OTHER:
      break;
    case TASK_MUL:
    case TASK_MUL_ADD: {
      constexpr int MOST = 16;
      constexpr int B = 3;
      if (id == 0) {
        int const rows = tensor.dim[0];
        int const cols = tensor.dim[1];
        uint64_t shape[2] = {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols)};
        uint64_t stride[2] = {1, static_cast<uint64_t>(tensor.stride[0])};
        uint32_t tile[2] = {static_cast<uint32_t>(std::min(MOST, rows)), 64};
        fill<bf, B, 2>(map, tensor.base, shape, stride, tile);
      } else if (id == 1 && part == 0) {
        fill<float, 0, 2>(map, tensor.base, {}, {}, {});
      }
      break;
    }
    default:
      assert(false);
  }
}
"#;

const LAYERS: &str = r#"
static std::pair<int, int> ordered(const Major& major, const int& k, const int& mn) {
    return major == Major::K ? std::make_pair(k, mn) : std::make_pair(mn, k);
}
static CUtensorMapSwizzle mode(const int& bytes, const int& base) {
    HOST_ASSERT(base == 0);
    switch (bytes) {
        case 0:
        case 16: return CU_TENSOR_MAP_SWIZZLE_NONE;
        case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
        default: HOST_UNREACHABLE("mode");
    }
}
static CUtensorMap make_2d(const Tensor& t, int inner, int outer, int box_inner, int box_outer, const int& stride,
                           const int& swizzle, const int& base = 0) {
    const auto bytes = static_cast<int>(t.element_size());
    if (swizzle != 0)
        box_inner = swizzle / bytes;
    CUtensorMap out;
    const cuuint64_t dims[2] = {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer)};
    const cuuint32_t boxes[2] = {static_cast<cuuint32_t>(box_inner), static_cast<cuuint32_t>(box_outer)};
    const cuuint64_t strides[1] = {static_cast<cuuint64_t>(stride * bytes), };
    if (get_env<int>("DEBUG")) {
        printf("map %d\n", inner);
    }
    DRIVER_CHECK(lazy_cuTensorMapEncodeTiled(&out, type_of(t.scalar_type()), 2, t.data_ptr(), dims, strides, boxes, ones,
        CU_NONE, mode(swizzle, base), CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_FILL));
    return out;
}
static CUtensorMap make_a(const Major& major, const Tensor& x, const int& m, const int& k, const int& block_m,
                          const int& block_k, const int& stride, const int& groups, const int& swizzle) {
    if (groups > 1)
        HOST_ASSERT(major == Major::K);
    const auto [inner, outer] = ordered(major, k, m * groups);
    const auto [box_inner, box_outer] = ordered(major, block_k, block_m);
    return make_2d(x, inner, outer, box_inner, box_outer, stride, swizzle);
}
"#;

fn run(text: &str, function: &str, leaves: &[(&str, &str)]) -> Result<PrintedMap, String> {
    let source = Source::new("fill.cuh", text);
    let leaves: BTreeMap<String, String> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    evaluate(&[Arc::clone(&source)], function, &leaves).map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
}

fn numbers(list: &[crate::model::Fact<u64>]) -> Vec<u64> {
    list.iter().map(|fact| fact.value).collect()
}

fn clamped(rows: &str) -> Vec<(&str, &str)> {
    vec![
        ("task.kind", "TASK_MUL"),
        ("id", "0"),
        ("tensor.dim[0]", rows),
        ("tensor.dim[1]", "4096"),
        ("tensor.stride[0]", "4096"),
    ]
}

#[test]
fn a_switch_over_tasks_clamps_the_box_of_a_small_batch() {
    for (rows, boxed) in [("8", 8), ("16", 16), ("24", 16)] {
        let map = run(SWITCH, "fill_by_task", &clamped(rows)).unwrap();
        assert_eq!(numbers(&map.global_dim), [4096, rows.parse().unwrap(), 1]);
        assert_eq!(numbers(&map.box_dim), [64, boxed, 1], "{rows}");
        assert_eq!(numbers(&map.global_strides), [8192, 0]);
        assert_eq!(map.data_type.as_deref(), Some("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"));
        assert_eq!((map.element_bytes, map.swizzle.map(|s| s.value)), (Some(2), Some(Swizzle::B128)));
        let origin = map.box_dim[1].origin.detail();
        assert!(origin.starts_with("fill.cuh:") && origin.contains("tensor.dim[0]"), "{origin}");
    }
}

#[test]
fn what_is_unknown_is_named_as_the_entry_sees_it() {
    let error = run(SWITCH, "fill_by_task", &clamped("8")[..3]).unwrap_err();
    for leaf in ["--fill-set 'tensor.dim[1]=VALUE", "--fill-set 'tensor.stride[0]=VALUE"] {
        assert!(error.contains(leaf), "{error}");
    }
    assert!(!error.contains("tensor.dim[0]=VALUE"), "{error}");
    assert!(run(SWITCH, "fill_by_task", &[]).unwrap_err().contains("task.kind"));
    assert!(run(SWITCH, "fill_by_tusk", &[]).unwrap_err().contains("did you mean `fill_by_task`"));
    let other = [("task.kind", "TASK_OTHER")];
    assert!(run(SWITCH, "fill_by_task", &other).unwrap_err().contains("encodes 0 descriptors"));
}

#[test]
fn an_assertion_of_the_fill_code_is_quoted() {
    let other = [("task.kind", "TASK_NEW")];
    assert!(run(SWITCH, "fill_by_task", &other).unwrap_err().contains("refuses these values: assert(false)"));
}

#[test]
fn helpers_under_a_checking_macro_are_followed() {
    let leaves = |major: &'static str, swizzle: &'static str| {
        vec![
            ("major", major),
            ("m", "300"),
            ("k", "4096"),
            ("block_m", "128"),
            ("block_k", "64"),
            ("stride", "4096"),
            ("groups", "2"),
            ("swizzle", swizzle),
            ("x.element_size()", "1"),
            ("type_of(x.scalar_type())", "CU_TENSOR_MAP_DATA_TYPE_UINT8"),
        ]
    };
    let map = run(LAYERS, "make_a", &leaves("Major::K", "128")).unwrap();
    assert_eq!((numbers(&map.global_dim), numbers(&map.box_dim)), (vec![4096, 600], vec![128, 128]));
    assert_eq!(numbers(&map.global_strides), [4096]);
    assert_eq!(map.l2_promotion.as_deref(), Some("CU_TENSOR_MAP_L2_PROMOTION_L2_256B"));
    let map = run(LAYERS, "make_a", &leaves("Major::K", "0")).unwrap();
    assert_eq!((numbers(&map.box_dim), map.swizzle.map(|s| s.value)), (vec![64, 128], Some(Swizzle::None)));
    let error = run(LAYERS, "make_a", &leaves("Major::MN", "128")).unwrap_err();
    assert!(error.contains("major == Major::K"), "{error}");
}
