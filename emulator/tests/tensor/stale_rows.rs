//! A batch of 8 in a tile of 16 rows, as a serving engine's linear layer has it on Blackwell: what its operands are.

use half::bf16;
use krepro_emulator::exec::{Cause, Failure, Options, Report};
use krepro_emulator::tensor_map::{ElementType, Swizzle};

use super::common::{Device, Random, map};

/// `out[n][m] = Σ_k weight[m][k] · input[n][k]` for 128 x 16 x 64, of which the first 8 of n are stored: tensor copies, one
/// barrier that awaits `expect` bytes, four products, an accumulator in tensor memory.
const KERNEL: &str = "\
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 weight[128], .param .align 64 .b8 input[128], .param .u64 out, .param .u32 expect)
{
.shared .align 1024 .b8 tiles[18432];
.shared .align 8 .b64 full;
.shared .align 8 .b64 done;
.shared .align 4 .b32 tensor;
.reg .pred %one, %few, %ready, %keep;
.reg .b32 %me, %a, %b, %full, %done, %tensor, %d, %expect, %zero, %low, %lane, %idesc, %o<8>;
.reg .b64 %weight, %input, %out, %da, %db;
mov.b64 %weight, weight;
cvta.param.u64 %weight, %weight;
mov.b64 %input, input;
cvta.param.u64 %input, %input;
ld.param.u64 %out, [out];
ld.param.u32 %expect, [expect];
mov.u32 %zero, 0;
mov.u32 %me, %tid.x;
mov.u32 %a, tiles;
add.u32 %b, %a, 16384;
mov.u32 %full, full;
mov.u32 %done, done;
mov.u32 %tensor, tensor;
setp.eq.u32 %one, %me, 0;
setp.lt.u32 %few, %me, 32;
@%few tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%tensor], 32;
@%one mbarrier.init.shared::cta.b64 [%full], 1;
@%one mbarrier.init.shared::cta.b64 [%done], 1;
bar.sync 0;
ld.shared.b32 %d, [%tensor];
@!%one bra RESULT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], %expect;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%weight, {%zero, %zero}], [%full];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%b], [%input, {%zero, %zero}], [%full];
LOADED:
mbarrier.try_wait.parity.shared::cta.b64 %ready, [%full], 0;
@!%ready bra LOADED;
mov.u32 %idesc, 0x8040490;
STEPS
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%done];
RESULT:
mbarrier.try_wait.parity.shared::cta.b64 %ready, [%done], 0;
@!%ready bra RESULT;
tcgen05.fence::after_thread_sync;
shr.u32 %lane, %me, 5;
shl.b32 %lane, %lane, 21;
add.u32 %lane, %lane, %d;
tcgen05.ld.sync.aligned.32x32b.x8.b32 {%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7}, [%lane];
tcgen05.wait::ld.sync.aligned;
mad.wide.u32 %out, %me, 4, %out;
st.global.b32 [%out], %o0;
st.global.b32 [%out+512], %o1;
st.global.b32 [%out+1024], %o2;
st.global.b32 [%out+1536], %o3;
st.global.b32 [%out+2048], %o4;
st.global.b32 [%out+2560], %o5;
st.global.b32 [%out+3072], %o6;
st.global.b32 [%out+3584], %o7;
bar.sync 0;
@%few tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32;
ret;
}
";

/// bf16 10.0 in both halves.
const POISON: u32 = 0x4120_4120;

struct Layer {
    device: Device,
    weight: Vec<f32>,
    input: Vec<f32>,
}

impl Layer {
    fn new(schedule: Option<u64>) -> Layer {
        let steps: String = (0..4)
            .map(|k| {
                let descriptor = |register: &str, tile: &str| {
                    format!(
                        "add.u32 %low, {tile}, {};\nshr.u32 %low, %low, 4;\ncvt.u64.u32 {register}, %low;\n\
                         or.b64 {register}, {register}, 0x4000404000010000;\n",
                        32 * k
                    )
                };
                format!(
                    "{}{}setp.ne.u32 %keep, {k}, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%d], %da, %db, %idesc, %keep;\n",
                    descriptor("%da", "%a"),
                    descriptor("%db", "%b")
                )
            })
            .collect();
        let mut device = Device::new(&KERNEL.replace("STEPS\n", &steps));
        device.options = Options { trace: true, shared_poison: Some(POISON), schedule, ..Options::default() };
        let mut random = Random(3);
        let mut make = |count| (0..count).map(|_| (random.next() % 7) as f32 - 3.0).collect::<Vec<f32>>();
        let (weight, input) = (make(128 * 64), make(8 * 64));
        Layer { device, weight, input }
    }

    /// The output of a launch whose copy of the input has a box of so many rows.
    fn run(&self, rows: u32, expect: i32) -> Result<(Vec<f32>, Report), Box<Failure>> {
        let upload = |values: &[f32]| {
            self.device.halves(&values.iter().map(|&v| bf16::from_f32(v).to_bits()).collect::<Vec<_>>())
        };
        let (weight, input, out) = (upload(&self.weight), upload(&self.input), self.device.zeros(8 * 128 * 4));
        let weight = map(ElementType::Bf16, weight, &[64, 128], &[64, 128], Swizzle::B128);
        let input = map(ElementType::Bf16, input, &[64, 8], &[64, rows], Swizzle::B128);
        let parameters =
            vec![weight.encode().to_vec().into(), input.encode().to_vec().into(), out.into(), expect.into()];
        let report = self.device.launch("k", [1, 1, 1], [128, 1, 1], parameters)?;
        Ok((self.device.read_floats(out, 8 * 128), report))
    }

    fn wanted(&self) -> Vec<f32> {
        let sum = |i: usize| (0..64).map(|k| self.weight[i % 128 * 64 + k] * self.input[i / 128 * 64 + k]).sum();
        (0..8 * 128).map(sum).collect()
    }

    /// Largest magnitudes of the rows of the second operand, over all steps.
    fn rows(report: &Report) -> Vec<f32> {
        assert_eq!(report.trace.len(), 4);
        let row = |row: usize| report.trace.iter().map(|step| step.operands.b.absmax[row]).fold(0.0, f32::max);
        (0..16).map(row).collect()
    }
}

#[test]
fn a_clamped_box_gives_the_right_output_from_operands_with_stale_rows() {
    for schedule in [None, Some(2)] {
        let layer = Layer::new(schedule);
        // The box that production fills: 8 rows, 8 rows of bytes.
        let (got, report) = layer.run(8, (128 + 8) * 128).unwrap();
        assert_eq!(got, layer.wanted());
        let rows = Layer::rows(&report);
        assert!(rows[..8].iter().all(|&most| most <= 3.0), "{rows:?}");
        // What an all-rows maximum of the operand would take for an input ten times too large.
        assert_eq!(rows[8..], [10.0; 8]);
        for (k, step) in report.trace.iter().enumerate() {
            assert_eq!(step.operands.a.first, layer.weight[16 * k..][..8]);
            assert_eq!(step.operands.b.first, layer.input[16 * k..][..8]);
        }
    }
}

#[test]
fn a_full_box_fills_the_rows_and_counts_them() {
    let layer = Layer::new(None);
    let (got, report) = layer.run(16, (128 + 16) * 128).unwrap();
    assert_eq!(got, layer.wanted());
    assert_eq!(Layer::rows(&report)[8..], [0.0; 8]);
    // Announcing only the 8 rows that exist is the hang.
    let failure = layer.run(16, (128 + 8) * 128).unwrap_err();
    let text = failure.to_string();
    let Cause::Deadlock(report) = failure.cause else { panic!("{text}") };
    let full = report.ledgers.iter().find(|ledger| ledger.arrived_bytes > 0).unwrap();
    assert_eq!((full.expected_bytes, full.arrived_bytes), (17_408, 18_432));
    assert!(text.contains("8 of 16 rows outside of the tensor"), "{text}");
}
