//! Reading a site of 5,000 lines and a header of 5,000 lines; the alternative is the parser alone on the same text.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use krepro::read::cxx::document::{Document, Grammar};
use krepro::read::cxx::functions::functions;
use krepro::read::cxx::mask::MaskOptions;
use krepro::read::signature::{SignatureOptions, find};
use krepro::read::site::evaluate;
use krepro::source::Source;

/// `count` copies of a text, `NUMBER` replaced by the copy's number.
fn repeated(text: &str, lines: usize) -> String {
    let count = lines.div_ceil(text.lines().count());
    (0..count).map(|index| text.replace("NUMBER", &index.to_string())).collect()
}

const SITE: &str = r#"int Maker::emit_NUMBER(Plan const &plan, std::vector<int> const &params) {
  int rows = 0, cols = 0;
  assert(params.size() == 0);
  for (auto const &op : plan.operators) {
    assert(op->kind == INPUT);
    inputs.push_back(static_cast<Input *>(op));
  }
  rows = outputs[0]->extent[0];
  cols = outputs[0]->extent[1];
  constexpr int TILE = 128;
  int const padded = rows <= 8 ? 8 : 16;
  Writer code;
  code.inc_indent();
  code.e("using A = kernel::box<bfloat16, $, $, $, "
         "$, true>;",
         rows,  /* ROWS */
         cols,  /* COLS */
         TILE,  /* TILE */
         padded * ((cols + TILE - 1) / TILE) /* STRIDE */);
  code.e("A a(static_cast<Map *>(task->inputs[0]));");
  code.e("kernel::multiply<bfloat16, $, $, A>(a);", rows, cols);
  return add(KIND, code.to_string());
}

"#;

const HEADER: &str = r#"template <typename T, int ROWS, int COLS, class MAP, int STRIDE = COLS * 2, bool WIDE = (ROWS > 8)>
CUTLASS_DEVICE void kernel_NUMBER(const MAP &map, T const *__restrict__ in, T *out = nullptr) {
  constexpr int BYTES = sizeof(T) * ROWS * COLS; // of one box
#if defined(ARCH) and (ARCH >= 900)
  CUTLASS_PRAGMA_UNROLL
  for (int i = 0; i < STRIDE; ++i) {
    if constexpr (WIDE) {
      out[i] = in[i] * static_cast<T>(BYTES);
    }
  }
#endif
}

"#;

fn read(c: &mut Criterion) {
    let site = Source::new("site.cc", repeated(SITE, 5000));
    let leaves = [("rows", "16"), ("cols", "1024"), ("params.size()", "0")];
    let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let mut group = c.benchmark_group("site of 5,000 lines");
    group.bench_function("evaluate one function", |b| {
        b.iter(|| evaluate(black_box(&site), Some("emit_100"), &leaves).map(|emission| emission.lines.len()));
    });
    group.bench_function("mask and parse alone", |b| {
        b.iter(|| Document::parse(black_box(&site), Grammar::Cpp, &MaskOptions::default()).root().child_count());
    });
    group.finish();
    let header = Source::new("kernel.cuh", repeated(HEADER, 5000));
    let mut group = c.benchmark_group("header of 5,000 lines");
    group.bench_function("find one kernel", |b| {
        b.iter(|| find(black_box(&header), "kernel_200", &SignatureOptions::default()).map(|k| k.parameters.len()));
    });
    group.bench_function("mask and parse alone", |b| {
        b.iter(|| Document::parse(black_box(&header), Grammar::Cuda, &MaskOptions::default()).root().child_count());
    });
    group.finish();
    // As many headers, and as much text, as the persistent kernel of a large framework has.
    let headers: Vec<_> =
        (0..116).map(|index| Source::new(format!("kernel_{index}.cuh"), repeated(HEADER, 340))).collect();
    let mut group = c.benchmark_group("116 headers of 340 lines");
    group.sample_size(10);
    group.bench_function("every function of all", |b| {
        b.iter(|| {
            let count = |source| functions(&Document::parse(source, Grammar::Cuda, &MaskOptions::default())).len();
            headers.iter().map(count).sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
