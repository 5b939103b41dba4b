//! Constants of one kernel with their expectations.

use std::collections::BTreeMap;

use super::{Scope, expected_bytes};
use crate::read::instantiation::{Select, parse_text};
use crate::read::signature::{SignatureOptions, find};
use crate::source::Source;

const TYPES: &str = r#"
namespace lib {
constexpr int kRowBytes = 128;
#define WARPS 4
enum Unscoped { FIRST = 5, SECOND };
enum class Scoped { A, B };
template <typename T> constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
constexpr int pick(int n) { if (n > 8) { return 16; } else return 8; }
template <typename T, int ROWS_, int COLS_, int REPEAT_ = 1>
struct box {
  static constexpr int ROWS = ROWS_;
  static constexpr int COLS = COLS_;
  static constexpr int BYTES = sizeof(T) * ROWS * COLS * REPEAT_;
  using element = T;
};
template <int N> struct wide : box<float, N, 2> {};
template <typename T> using square = box<T, 4, 4>;
}
"#;

const KERNEL: &str = r#"
namespace lib {
using bf = type::bfloat16_t;
template <typename T, int BATCH, int TILE, class TMA_A, class TMA_B, typename TMA_R = void, int STRIDE = BATCH * 2, Scoped S = Scoped::A>
__device__ void k(const TMA_A &tma_a, const TMA_B &tma_b, const TMA_R *tma_r = nullptr, bool add = true) {
  constexpr bool HAS_R = !std::is_void<TMA_R>::value;
  constexpr int K = TMA_A::COLS < TILE ? TMA_A::COLS : TILE;
  constexpr int BYTES_A = sizeof(T) * K * TMA_A::ROWS;
  constexpr int CLAMPED = (BATCH < TILE) ? BATCH : TILE;
  int bytes_b = sizeof(T) * CLAMPED * TILE;
  int moving = 1;
  moving += 1;
  Barrier *full = reinterpret_cast<Barrier *>(storage.full_ptr);
  for (int i = 0; i < 4; ++i) {
    if constexpr (HAS_R) {
      if (add) {
        set_barrier_transaction_bytes(r_bar[i], TMA_R::BYTES);
        tma_r->copy(r_bar[i], 0);
      }
    }
    auto &slot_bar = *a_bar[i];
    slot_bar.arrive_and_expect_tx(BYTES_A);
    tma_a.tma_cp_async(*a_bar[i], 0);
    cute::set_barrier_transaction_bytes(storage.full_ptr[i], bytes_b);
    lib::copy<1>(&tma_b, &full[i], 3);
    wait(a_bar[i], 1);
    expect_tx(m_bar, moving);
  }
}
}
"#;

fn scope(call: &str) -> Scope {
    let headers = [Source::new("types.cuh", TYPES), Source::new("k.cuh", KERNEL)];
    let signature = find(&headers[1], "k", &SignatureOptions::default()).unwrap();
    let found = parse_text(&Source::new("-", call), &Select::default()).unwrap();
    Scope::new(&headers, &signature, &found, &SignatureOptions::default())
}

fn plain() -> Scope {
    scope(
        "using A = lib::box<bfloat16, 64, 32>;\nusing B = lib::square<bf>;\nA a(p);\nB b(q);\nlib::k<bf, 3, 16, A, B>(a, b, nullptr, false);",
    )
}

fn value(scope: &Scope, expr: &str) -> String {
    match scope.evaluate(expr, &BTreeMap::new()) {
        Ok(value) => value.to_string(),
        Err(why) => format!("error: {why}"),
    }
}

#[test]
fn expressions_over_parameters_locals_constants_and_members() {
    let scope = plain();
    for (expr, expected) in [
        ("min(TILE, BATCH)", "3"),
        ("STRIDE", "6"),
        ("HAS_R", "false"),
        ("BYTES_A", "2048"),
        ("TMA_A::COLS + TMA_B::ROWS", "36"),
        ("TMA_A::BYTES", "4096"),
        ("A::BYTES", "4096"),
        ("sizeof(T) * 2u", "4"),
        ("sizeof(typename TMA_B::element)", "2"),
        ("lib::kRowBytes / WARPS", "32"),
        ("lib::ceil_div(BATCH, 2) + pick(9) + lib::pick(1)", "26"),
        ("SECOND", "6"),
        ("S == Scoped::A ? 1 : 2", "1"),
        ("lib::wide<3>::BYTES", "24"),
        ("lib::wide<3>::ROWS", "3"),
        ("std::is_same_v<T, float>", "false"),
        ("cute::size<1>(cute::make_shape(1, BATCH)) * cute::Int<4>{}", "12"),
        ("cute::tile_size<2>(cute::make_tiled_mma(cute::SM100_MMA_F16BF16_SS<T, T, float, 128, 16>{}))", "16"),
        ("cute::tile_size<1>(cute::make_tiled_mma(SM90_64x32x16_F32BF16BF16_SS<1, 2>{}))", "32"),
        ("cute::size(cute::Shape<cute::_128, cute::Int<2>>{})", "256"),
        ("add", "false"),
    ] {
        assert_eq!(value(&scope, expr), expected, "{expr}");
    }
    let extra = BTreeMap::from([("box_rows".to_owned(), "TILE * 2".to_owned())]);
    assert_eq!(scope.integer("box_rows + 1", &extra), Ok(33));
}

#[test]
fn what_is_not_known_is_named() {
    let scope = plain();
    for (expr, part) in [
        ("UNHEARD + 1", "`UNHEARD` is not known"),
        ("elsewhere::SIZE + 1", "elsewhere::SIZE"),
        ("moving", "`moving`, which changes in line 12, is not evaluated"),
        ("1 / (BATCH - 3)", "divides by zero"),
        ("sizeof(Opaque)", "the size of `Opaque`"),
        ("f(", "is not evaluated"),
        ("1; 2", "is not evaluated"),
    ] {
        let out = value(&scope, expr);
        assert!(out.starts_with("error: ") && out.contains(part), "{expr}: {out}");
    }
}

#[test]
fn every_barrier_with_its_bytes_and_its_copies() {
    let all: Vec<_> = expected_bytes(&plain(), &[])
        .into_iter()
        .map(|e| {
            let copies: Vec<_> = e.copies.iter().map(|c| c.object.clone()).collect();
            (e.barrier, e.bytes, e.value, copies, e.at.line)
        })
        .collect();
    assert_eq!(
        all,
        [
            ("slot_bar".into(), "BYTES_A".into(), Ok(2048), vec!["tma_a".into()], 22),
            ("storage.full_ptr[i]".into(), "bytes_b".into(), Ok(96), vec!["tma_b".into()], 24),
            (
                "m_bar".into(),
                "moving".into(),
                Err("`moving`, which changes in line 12, is not evaluated".to_owned()),
                vec![],
                27
            ),
        ]
    );
}

#[test]
fn a_branch_that_the_instantiation_takes_counts_and_its_runtime_conditions_are_told() {
    let scope = scope("using A = lib::box<bfloat16, 64, 32>;\nlib::k<bf, 3, 16, A, A, A>(a, a, &r, rank == 0);");
    let all = expected_bytes(&scope, &[]);
    assert_eq!(all[0].bytes, "TMA_R::BYTES");
    assert_eq!(all[0].value, Ok(4096));
    assert_eq!(all[0].conditions, ["add"]);
    assert_eq!(all[0].copies[0].object, "tma_r");
}

#[test]
fn a_changed_constant_changes_the_bytes() {
    let header = KERNEL.replace("sizeof(T) * K * TMA_A::ROWS", "sizeof(T) * K * TMA_A::ROWS + 64");
    let headers = [Source::new("types.cuh", TYPES), Source::new("k.cuh", header)];
    let signature = find(&headers[1], "k", &SignatureOptions::default()).unwrap();
    let call = "using A = lib::box<bfloat16, 64, 32>;\nlib::k<bf, 3, 16, A, A>(a, a);";
    let found = parse_text(&Source::new("-", call), &Select::default()).unwrap();
    let scope = Scope::new(&headers, &signature, &found, &SignatureOptions::default());
    assert_eq!(expected_bytes(&scope, &[])[0].value, Ok(2112));
}

#[test]
fn circles_end() {
    let headers =
        [Source::new("c.cuh", "constexpr int A = B;\nconstexpr int B = A + A;\n#define M M + M\nvoid k() {}")];
    let signature = find(&headers[0], "k", &SignatureOptions::default()).unwrap();
    let found = parse_text(&Source::new("-", "k<1>()"), &Select::default()).unwrap();
    let scope = Scope::new(&headers, &signature, &found, &SignatureOptions::default());
    assert!(value(&scope, "A").starts_with("error: "));
    assert!(value(&scope, "M").starts_with("error: "));
}
