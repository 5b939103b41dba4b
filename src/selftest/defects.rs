//! Defects that can be planted into the simulator's mechanisms.

use crate::judge::diagnosis::function::Function;
use crate::judge::diagnosis::target::{Step, Target, Tensor};
use crate::model::{ElementType, Stage};

use super::contracts::Random;

/// Where a defect's kind is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kindred {
    /// The dictionary has its class.
    Catalogue,
    /// The dictionary has no hypothesis for it.
    Foreign,
    /// Unlike the usual, and right.
    Harmless,
}

macro_rules! defects {
    ($($name:ident $kindred:ident $stage:ident $class:literal,)*) => {
        /// A mechanism that is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the class beside each name says what it is")]
        pub enum Defect { $($name,)* }

        impl Defect {
            /// All of them.
            pub const ALL: &'static [Defect] = &[$(Defect::$name,)*];

            /// The class that the dictionary should name.
            pub fn class(self) -> &'static str {
                match self { $(Defect::$name => $class,)* }
            }

            /// The stage that it is in.
            pub fn stage(self) -> Stage {
                match self { $(Defect::$name => Stage::$stage,)* }
            }

            /// Whether the dictionary knows its class.
            pub fn kindred(self) -> Kindred {
                match self { $(Defect::$name => Kindred::$kindred,)* }
            }
        }
    };
}

defects! {
    KTailGarbage Catalogue OperandLoad "K_TAIL_OOB_READ",
    StaleStage Catalogue OperandLoad "STALE_STAGE",
    StaleLag Catalogue OperandLoad "STALE_STAGE",
    SwizzleMismatch Catalogue OperandLoad "SWIZZLE_MISMATCH",
    Transposed Catalogue OperandLoad "TRANSPOSED_OPERAND",
    StrideWrong Catalogue OperandLoad "ROW_STRIDE_WRONG",
    BaseOffset Catalogue OperandLoad "BASE_OFFSET",
    StrideAndOffset Catalogue OperandLoad "AFFINE_ADDRESS",
    TileCoordinate Catalogue OperandLoad "TILE_COORD_WRONG",
    RowHalfDuplicate Catalogue OperandLoad "ROW_HALF_DUP",
    RowHalfSwap Catalogue OperandLoad "ROW_HALF_SWAP",
    RowClamp8 Catalogue OperandLoad "ROW_CLAMP_ZERO",
    RowClamp4 Catalogue OperandLoad "ROW_CLAMP_ZERO",
    Misread Catalogue OperandLoad "DTYPE_MISREAD",
    Fnuz Catalogue OperandLoad "DTYPE_MISREAD",
    NibbleSwap Catalogue OperandLoad "NIBBLE_SWAP",
    Signedness Catalogue OperandLoad "INT8_SIGNEDNESS",
    KTailMissing Catalogue MmaAccumulate "K_BLOCK_MISSING",
    BlockSkipped Catalogue MmaAccumulate "K_BLOCK_MISSING",
    BlockDoubled Catalogue MmaAccumulate "K_BLOCK_DOUBLE",
    LoopRepeated Catalogue MmaAccumulate "K_LOOP_REPEAT",
    SliceStuck Catalogue MmaAccumulate "KSLICE_STUCK",
    SubtileTail Catalogue MmaAccumulate "K_SUBTILE_TAIL",
    OnlyFirstSlice Catalogue MmaAccumulate "K_SUBTILE_ONLY_FIRST",
    NotCleared Catalogue MmaAccumulate "ACC_NOT_CLEARED",
    SumF16 Catalogue MmaAccumulate "ACC_DTYPE_NARROW",
    SumBf16 Catalogue MmaAccumulate "ACC_DTYPE_NARROW",
    SumI16 Catalogue MmaAccumulate "ACC_DTYPE_NARROW",
    NotPromoted Catalogue MmaAccumulate "ACC_NOT_PROMOTED",
    FlagReset Catalogue MmaAccumulate "ACC_FLAG_RESET",
    Negated Catalogue MmaAccumulate "MMA_NEGATE",
    SplitMissing Catalogue MmaAccumulate "SPLITK_REDUCTION_MISSING",
    SplitOverlap Catalogue MmaAccumulate "K_BLOCK_DOUBLE",
    BiasAxis Catalogue Epilogue "BIAS_WRONG_AXIS",
    BiasEarly Catalogue Epilogue "BIAS_BEFORE_SCALE",
    BiasMissing Catalogue Epilogue "BIAS_MISSING",
    BiasTwice Catalogue Epilogue "BIAS_MULTIPLE",
    BiasTileLocal Catalogue Epilogue "BIAS_TILE_LOCAL",
    BiasNext Catalogue Epilogue "BIAS_INDEX",
    ResidualMissing Catalogue Epilogue "RESIDUAL_MISSING",
    ResidualTwice Catalogue Epilogue "RESIDUAL_MULTIPLE",
    ResidualTransposed Catalogue Epilogue "RESIDUAL_TRANSPOSED",
    ResidualTileLocal Catalogue Epilogue "RESIDUAL_TILE_LOCAL",
    ResidualNextRow Catalogue Epilogue "RESIDUAL_INDEX",
    AlphaTwice Catalogue Epilogue "ALPHA_TWICE",
    AlphaMissing Catalogue Epilogue "ALPHA_MISSING",
    AlphaInverted Catalogue Epilogue "ALPHA_INVERTED",
    AlphaThrice Catalogue Epilogue "ALPHA_MULTIPLE",
    ChannelScaleOnM Catalogue Epilogue "CHANNEL_SCALE_WRONG_DIM",
    ChannelScaleNext Catalogue Epilogue "CHANNEL_SCALE_OFF_BY_ONE",
    ChannelScaleMissing Catalogue Epilogue "CHANNEL_SCALE_MISSING",
    TokenScaleOnN Catalogue Epilogue "TOKEN_SCALE_WRONG_DIM",
    TokenScaleNext Catalogue Epilogue "TOKEN_SCALE_OFF_BY_ONE",
    TokenScalePrevious Catalogue Epilogue "TOKEN_SCALE_OFF_BY_ONE",
    TokenScalePerTile Catalogue Epilogue "TOKEN_SCALE_PER_TILE",
    TokenScaleMissing Catalogue Epilogue "TOKEN_SCALE_MISSING",
    TokenScaleSquared Catalogue Epilogue "TOKEN_SCALE_TWICE",
    ScalesSwapped Catalogue Epilogue "SCALES_SWAPPED",
    ZeroPointSign Catalogue Epilogue "ZERO_POINT_SIGN",
    ZeroPointMissing Catalogue Epilogue "ZERO_POINT_MISSING",
    ZeroPointTwice Catalogue Epilogue "ZERO_POINT_TWICE",
    RoundTowardZero Catalogue Epilogue "ROUNDING_MODE",
    RoundAway Catalogue Epilogue "ROUNDING_MODE",
    DoubleRounding Catalogue Epilogue "DOUBLE_ROUNDING",
    RoundingLeftOut Catalogue Epilogue "ROUNDING_POINT_MISSING",
    RoundingAdded Catalogue Epilogue "ROUNDING_POINT_EXTRA",
    RoundingBeforeAct Catalogue Epilogue "ROUNDING_POINT_EXTRA",
    NoSaturation Catalogue Epilogue "SATURATION_MISSING",
    ActEarly Catalogue Epilogue "ACT_ORDER",
    ActLate Catalogue Epilogue "ACT_ORDER",
    ActMissing Catalogue Epilogue "ACT_MISSING",
    ActTwice Catalogue Epilogue "ACT_TWICE",
    ActOther Catalogue Epilogue "ACT_KIND",
    GateSwapped Catalogue Epilogue "GATE_UP_SWAPPED",
    GatePairsWrong Catalogue Epilogue "GATE_PAIRS_WRONG",
    GateActsOnBoth Catalogue Epilogue "GATE_ACT_BOTH",
    GateUpMissing Catalogue Epilogue "GATE_UP_MISSING",
    BetaIgnored Catalogue Epilogue "BETA_IGNORED",
    BetaTwice Catalogue Epilogue "BETA_TWICE",
    BetaOnSum Catalogue Epilogue "BETA_ON_SUM",
    BetaOnAll Catalogue Epilogue "BETA_ON_ALL",
    SplitPartMissing Catalogue MmaAccumulate "SPLITK_PART_MISSING",
    SplitPartTwice Catalogue MmaAccumulate "SPLITK_PART_DOUBLE",
    SplitInBf16 Catalogue MmaAccumulate "SPLITK_REDUCTION_TYPE",
    SplitBiasEach Catalogue Epilogue "SPLITK_ADDS_EACH",
    GroupOffset Catalogue OperandLoad "GROUP_OFFSET",
    GroupNext Catalogue OperandLoad "GROUP_WRONG",
    GroupFirst Catalogue OperandLoad "GROUP_WRONG",
    GroupSwapped Catalogue OperandLoad "GROUP_SWAPPED",
    GroupLastCut Catalogue Store "GROUP_TAIL_CUT",
    GroupRowsCut Catalogue Store "GROUP_TAIL_CUT",
    GroupAlphaNext Catalogue Epilogue "ALPHA_INDEX",
    ScaleBound Catalogue QuantisationScale "SF_PADDING_ZERO",
    ScaleRowMajor Catalogue QuantisationScale "SF_NOT_SWIZZLED",
    ScaleCoarse Catalogue QuantisationScale "SF_GRANULARITY",
    ScaleSwapAb Catalogue QuantisationScale "SF_SWAPPED_AB",
    ScaleNext Catalogue QuantisationScale "SF_K_OFF_BY_ONE",
    ScalePrevious Catalogue QuantisationScale "SF_K_OFF_BY_ONE",
    ScaleDecode Catalogue QuantisationScale "SF_DECODE_WRONG",
    ScaleIgnored Catalogue QuantisationScale "SF_IGNORED",
    ScaleTransposed Catalogue QuantisationScale "SF_TRANSPOSED",
    ScaleTileRow Catalogue QuantisationScale "SF_ROW_OF_TILE",
    TileTransposed Catalogue OperandLoad "TRANSPOSED_OPERAND",
    OperandsSwapped Catalogue OperandLoad "OPERANDS_SWAPPED",
    StaleBlock Catalogue OperandLoad "STALE_STAGE",
    KTailCut Catalogue OperandLoad "K_TAIL_MISSING",
    StagedPitch Catalogue Store "STAGED_PITCH_WRONG",
    OutBase Catalogue Store "OUT_BASE_WRONG",
    TileUnwritten Catalogue Store "TILE_UNWRITTEN",
    ColumnTail Catalogue Store "N_TAIL_UNWRITTEN",
    RowTail Catalogue Store "M_TAIL_UNWRITTEN",
    HalfUnwritten Catalogue Store "TILE_PART_UNWRITTEN",
    LastRowUnwritten Catalogue Store "TILE_PART_UNWRITTEN",
    OutStride Catalogue Store "OUT_STRIDE_WRONG",
    OutMajor Catalogue Store "OUT_MAJOR_WRONG",
    StoreTransposed Catalogue Store "STORE_TRANSPOSED",
    ColumnPairs Catalogue Store "STORE_COL_PERM",
    RowXor4 Catalogue Store "STORE_ROW_PERM",
    RowInterleave Catalogue Store "STORE_ROW_PERM",
    StoreTileSwap Catalogue Store "STORE_TILE_SWAP",
    Unmasked Catalogue Store "OOB_TILE_WRITE",
    Overwritten Catalogue Store "OUTPUT_OVERWRITTEN",
    WorkspaceStale Catalogue Synchronisation "SPLITK_WS_NOT_CLEARED",
    RaceStale Catalogue Synchronisation "RACE",
    RaceEarlyEpilogue Catalogue Synchronisation "RACE",
    RaceStore Catalogue Synchronisation "RACE",
    ScaleAxis Catalogue QuantisationScale "SF_WRONG_AXIS",
    BlockOverrun Catalogue MmaAccumulate "K_BLOCK_OVERRUN",
    AccumulatorStart Catalogue MmaAccumulate "ACC_START",
    ChannelScaleAdded Catalogue Epilogue "CHANNEL_SCALE_ADDED",
    OperandTwice Catalogue OperandLoad "OPERAND_TWICE",
    SharedSlot Foreign OperandLoad "",
    KPermutedTile1 Foreign OperandLoad "",
    Clipped Foreign OperandLoad "",
    Absolute Foreign OperandLoad "",
    SwizzleOdd Foreign OperandLoad "",
    SwizzleBoth Foreign OperandLoad "",
    RowsPermuted Foreign OperandLoad "",
    ThirdBlockNextTile Foreign OperandLoad "",
    PrologueNextTile Foreign OperandLoad "",
    StrideLastTile Foreign OperandLoad "",
    QuarterDuplicate Foreign OperandLoad "",
    SliceReversed Foreign OperandLoad "",
    TwoBlocksSkipped Foreign MmaAccumulate "",
    DoubledInTile0 Foreign MmaAccumulate "",
    LastStepNegated Foreign MmaAccumulate "",
    SumSaturates Foreign MmaAccumulate "",
    SumDropsBits Foreign MmaAccumulate "",
    ColumnSevenDoubled Foreign Epilogue "",
    BiasRotated Foreign Epilogue "",
    BiasTimesScale Foreign Epilogue "",
    ZeroPointHalfK Foreign Epilogue "",
    AlphaOnBias Foreign Epilogue "",
    ScalesPermuted Foreign QuantisationScale "",
    ScaleTailNextRow Foreign QuantisationScale "",
    FirstRowOfTileUnwritten Foreign Store "",
    ColumnRotated Foreign Store "",
    ScalePlaceOff Foreign QuantisationScale "",
    ScalePlaceXor Foreign QuantisationScale "",
    ScaleReadRowMajor Foreign QuantisationScale "",
    StoreReversed Foreign Store "",
    BlockHead Foreign MmaAccumulate "",
    CodesShifted Foreign OperandLoad "",
    ScaleCodes Foreign QuantisationScale "",
    ScalePaddingZero Harmless QuantisationScale "",
}

/// A defect with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planted {
    /// Which.
    pub defect: Defect,
    /// Whether it is in a; in b.
    pub sides: (bool, bool),
    /// Its number: a block, a delta, a factor.
    pub number: i64,
    /// Its tile.
    pub tile: (usize, usize),
}

impl Planted {
    /// Draws the parameters of `defect` for a contract.
    pub fn draw(defect: Defect, target: &Target, swizzle: u32, random: &mut Random) -> Self {
        let blocks = target.k_blocks();
        let chunk = (128 / target.a.element.bits()) as i64;
        let both = matches!(defect, Defect::StaleStage | Defect::SliceStuck | Defect::ScaleDecode | Defect::Misread);
        let mut sides = random.pick(&[(true, false), (false, true)]);
        if both && random.chance(30) {
            sides = (true, true);
        }
        if defect == Defect::RowClamp8 || defect == Defect::RowClamp4 {
            sides = (true, false);
        }
        let number = match defect {
            Defect::BlockSkipped | Defect::BlockDoubled => random.below(blocks) as i64,
            Defect::LoopRepeated => random.pick(&[2, 3]),
            Defect::SplitPartMissing | Defect::SplitPartTwice => {
                random.below(target.splits.count.min(target.k.div_ceil(target.splits.length))) as i64
            }
            Defect::ActOther => random.below(3) as i64,
            Defect::StaleStage => random.below(target.stages.min(blocks - target.stages.min(blocks - 1))) as i64,
            Defect::StaleLag => 0,
            Defect::StrideWrong => random.pick(&[-16, -8, 8, 16, 24]),
            Defect::BaseOffset => random.pick(&[-1, 1, 2]) * chunk,
            Defect::ScalePlaceOff => random.pick(&[-1, 1, 2, 16]),
            Defect::BlockHead | Defect::BlockOverrun => random.pick(&[1, 2, 4]),
            Defect::StagedPitch => random.pick(&[1, 2, 4, 8]),
            Defect::OutBase => random.pick(&[-4, -1, 1, 8]),
            Defect::KTailCut => {
                let unit = (128 / target.a.element.bits()) as i64;
                let rest = (target.k % target.tile_k) as i64;
                let cuts = (1..4).map(|x| x * unit).filter(|x| *x != rest && *x < target.tile_k as i64);
                random.pick(&cuts.collect::<Vec<_>>())
            }
            Defect::OutStride => random.pick(&[-8, 8, 16, 40]),
            Defect::SwizzleMismatch => {
                let lower: Vec<i64> = [0, 32, 64].into_iter().filter(|s| (*s as u32) < swizzle).collect();
                if lower.is_empty() { 0 } else { random.pick(&lower) }
            }
            _ => 0,
        };
        let tile = (random.below(target.a.tiles()), random.below(target.column_tiles()));
        Planted { defect, sides, number, tile }
    }
}

impl Defect {
    /// Whether it can be planted under a contract at all; it may still not be observable there.
    pub fn fits(self, t: &Target, swizzle: u32) -> bool {
        use Defect as D;
        let plain = t.a.scale.is_none();
        let tiles = t.a.tiles() * t.column_tiles();
        let bias = t.uses(Tensor::Bias);
        let residual = t.uses(Tensor::Residual);
        let (alpha, token, channel) = (t.uses(Tensor::Alpha), t.uses(Tensor::ScaleA), t.uses(Tensor::ScaleB));
        let activation = t.activations().next();
        let act = t.epilogue.iter().position(|s| matches!(s, Step::Activate(_) | Step::Gate { .. }));
        let added = |from: usize, to: usize| t.epilogue[from..to].iter().any(|s| matches!(s, Step::Add { .. }));
        let beta = t.uses(Tensor::Beta);
        let busy = t.splits.count.min(t.k.div_ceil(t.splits.length));
        let groups = t.groups.as_ref().map_or(0, |groups| groups.len());
        let floating = t.a.element.significant_bits().is_some();
        let early = |wanted: Tensor| {
            let at = t.epilogue.iter().position(|s| matches!(s, Step::Add { tensor, .. } if *tensor == wanted));
            at.is_some_and(|at| t.epilogue[..at].iter().any(|s| matches!(s, Step::Multiply { .. })))
        };
        let rounds = t.epilogue.iter().filter(|s| matches!(s, Step::Round { .. })).count();
        let straight = t.b.k_major;
        if !t.is_plain() && !self.suits_forms(t) {
            return false;
        }
        match self {
            D::KTailGarbage => !t.k.is_multiple_of(t.tile_k) && plain && straight,
            D::KTailMissing => !t.k.is_multiple_of(t.tile_k) && t.splits.count == 1,
            D::StaleStage | D::StaleLag => t.k_blocks() > t.stages && t.splits.count == 1,
            D::RaceStale => t.k_blocks() > t.stages,
            D::SwizzleMismatch | D::SwizzleOdd | D::SwizzleBoth => swizzle >= 64 && straight,
            D::Transposed | D::StrideWrong | D::BaseOffset | D::StrideAndOffset => plain && straight,
            D::TileCoordinate => t.a.tiles() > 1 && t.b.tiles() > 1,
            D::RowClamp8 => !t.m().is_multiple_of(8),
            D::RowClamp4 => !t.m().is_multiple_of(4),
            D::Misread => {
                matches!(t.a.element, ElementType::E4m3 | ElementType::E5m2 | ElementType::Bf16 | ElementType::F16)
            }
            D::Fnuz => t.a.element == ElementType::E4m3,
            D::NibbleSwap => t.a.element == ElementType::E2m1,
            D::Signedness | D::SumI16 => t.a.element == ElementType::S8,
            D::BlockSkipped | D::BlockDoubled => t.splits.count == 1,
            D::FlagReset => t.k_blocks() > 2 && t.splits.count == 1,
            D::SliceStuck | D::SubtileTail | D::SliceReversed => t.tile_k > t.instruction_k,
            D::OnlyFirstSlice => t.tile_k > 2 * t.instruction_k,
            D::NotCleared => tiles > 1 && t.splits.count == 1,
            D::SumF16 | D::SumBf16 | D::SumDropsBits => floating,
            D::NotPromoted => t.promote.is_some() && t.k >= 200,
            D::SumSaturates => t.a.element == ElementType::S8,
            D::SplitMissing | D::SplitOverlap => busy > 1 && busy == t.splits.count,
            D::WorkspaceStale => t.splits.count > 1 && !t.splits.into_output,
            D::BiasAxis | D::BiasMissing | D::BiasTwice | D::BiasNext | D::BiasRotated => bias,
            D::BiasEarly => early(Tensor::Bias),
            D::BiasTileLocal => bias && t.column_tiles() > 1,
            D::BiasTimesScale => bias && token,
            D::AlphaOnBias => bias && alpha,
            D::ResidualMissing | D::ResidualTwice | D::ResidualTransposed | D::ResidualNextRow => residual,
            D::ResidualTileLocal => residual && tiles > 1,
            D::AlphaTwice | D::AlphaMissing | D::AlphaInverted | D::AlphaThrice => alpha,
            D::ChannelScaleOnM | D::ChannelScaleNext | D::ChannelScaleMissing => channel,
            D::TokenScaleOnN | D::TokenScaleNext | D::TokenScalePrevious | D::TokenScalePerTile => token,
            D::TokenScaleMissing | D::TokenScaleSquared => token,
            D::ScalesSwapped => token && channel,
            D::ZeroPointSign | D::ZeroPointMissing | D::ZeroPointTwice | D::ZeroPointHalfK => t.has_zero_point(),
            D::RoundTowardZero | D::RoundAway => {
                t.out.significant_bits().is_some_and(|b| b < 24) || t.out == ElementType::S8
            }
            D::DoubleRounding => matches!(t.out, ElementType::Bf16 | ElementType::E4m3 | ElementType::S8),
            D::RoundingLeftOut => rounds > 1,
            D::RoundingAdded => rounds == 1 && (bias || residual) && t.out.significant_bits().is_some_and(|b| b < 24),
            D::RoundingBeforeAct => {
                let float = t.out.significant_bits().is_some_and(|b| b < 24);
                float && t.gate.is_none() && activation.is_some_and(Function::is_curved)
            }
            D::NoSaturation => matches!(t.out, ElementType::S8 | ElementType::E4m3),
            D::ActEarly => act.is_some_and(|act| added(0, act)),
            D::ActLate => act.is_some_and(|act| added(act, t.epilogue.len())) && t.gate.is_none(),
            D::ActMissing => activation.is_some(),
            D::ActTwice => activation.is_some_and(Function::is_curved) && t.gate.is_none(),
            D::ActOther => activation.is_some_and(Function::is_curved),
            D::GateSwapped | D::GatePairsWrong | D::GateActsOnBoth | D::GateUpMissing => t.gate.is_some(),
            D::BetaIgnored | D::BetaTwice => beta,
            D::BetaOnSum | D::BetaOnAll => beta && !t.splits.into_output,
            D::SplitPartMissing => busy > 2,
            D::SplitPartTwice => busy > 1,
            D::SplitInBf16 => {
                t.splits.count > 1 && t.splits.sum == ElementType::F32 && t.splits.partial == t.splits.sum
            }
            D::SplitBiasEach => bias && t.splits.into_output,
            D::GroupNext => groups > 2,
            D::GroupOffset | D::GroupFirst | D::GroupSwapped | D::GroupLastCut => groups > 1,
            D::GroupRowsCut => t.groups.as_ref().is_some_and(|g| g.iter().any(|g| g.1 % 4 != 0 && g.1 > 4)),
            D::GroupAlphaNext => groups > 1 && t.alpha_of_group && alpha,
            D::ScaleBound | D::ScaleRowMajor | D::ScalePaddingZero => t.a.scale.is_some_and(|s| s.swizzled),
            // With fewer blocks they are the same as one another.
            D::ScaleCoarse | D::ScalePrevious => t.a.scale.is_some_and(|s| t.k.div_ceil(s.k_block) >= 4),
            D::ScaleSwapAb | D::ScaleNext | D::ScaleIgnored => !plain,
            D::TileTransposed => t.k > t.tile_k && t.b.tiles() > 1 && straight,
            D::OperandsSwapped => plain && straight && t.a.element == t.b.element,
            D::StaleBlock => t.k_blocks() > 1 && t.splits.count == 1 && t.k.is_multiple_of(t.tile_k),
            D::KTailCut => t.splits.count == 1,
            D::ScalePlaceOff | D::ScalePlaceXor | D::ScaleAxis => !plain,
            D::ScaleReadRowMajor => t.a.scale.is_some_and(|s| s.swizzled),
            D::StoreReversed => t.out_leading == t.n() && !t.accumulate && !t.zeroed,
            D::BlockHead => t.splits.count == 1,
            D::BlockOverrun => plain && t.splits.count == 1 && t.k > t.tile_k,
            D::AccumulatorStart => t.splits.count == 1 && (alpha || token || channel),
            D::ChannelScaleAdded => channel,
            D::OperandTwice => plain && t.a.element == t.b.element && floating,
            D::CodesShifted => matches!(t.a.element, ElementType::E2m1 | ElementType::E4m3) && activation.is_none(),
            D::ScaleCodes => t.a.scale.is_some_and(|s| s.element != ElementType::F32) && activation.is_none(),
            D::ScaleTransposed | D::ScaleTileRow | D::ScalesPermuted => !plain,
            D::ScaleDecode => t.a.scale.is_some_and(|s| s.element != ElementType::F32),
            D::ScaleTailNextRow => t.a.scale.is_some_and(|s| s.swizzled) && !t.k.div_ceil(16).is_multiple_of(4),
            D::TileUnwritten | D::RaceStore | D::StoreTileSwap => tiles > 1,
            D::ColumnTail => !t.n().is_multiple_of(8),
            D::RowTail => !t.m().is_multiple_of(8) && t.m() > 8,
            D::StoreTransposed => t.a.tile == t.b.tile,
            D::Unmasked => !t.n().is_multiple_of(t.b.tile) || !t.m().is_multiple_of(t.a.tile),
            D::Overwritten => t.accumulate,
            D::RaceEarlyEpilogue => t.k_blocks() > 1,
            D::KPermutedTile1 | D::StrideLastTile => t.a.tiles() > 1 && (self != D::StrideLastTile || plain),
            D::ThirdBlockNextTile => t.k_blocks() >= 3 && t.b.tiles() > 1,
            D::PrologueNextTile => t.b.tiles() > 1,
            D::TwoBlocksSkipped => t.k_blocks() >= 4 && t.splits.count == 1,
            D::DoubledInTile0 => tiles > 1 && t.splits.count == 1,
            D::LoopRepeated => t.out != ElementType::S8,
            D::Clipped => matches!(t.a.element, ElementType::Bf16 | ElementType::F16 | ElementType::S8),
            _ => true,
        }
    }

    /// Whether it is simulated for gated and grouped contracts too: those in the loop over k, in the epilogue and in the store.
    fn suits_forms(self, t: &Target) -> bool {
        use Defect as D;
        let both = matches!(
            self,
            D::KTailMissing
                | D::KTailCut
                | D::BlockSkipped
                | D::BlockDoubled
                | D::FlagReset
                | D::SubtileTail
                | D::StaleStage
                | D::SumBf16
                | D::BiasMissing
                | D::BiasTwice
                | D::BiasEarly
                | D::AlphaMissing
                | D::AlphaTwice
                | D::AlphaInverted
                | D::TokenScaleNext
                | D::TokenScaleMissing
                | D::ChannelScaleMissing
                | D::ResidualMissing
                | D::ResidualTwice
                | D::BetaIgnored
                | D::BetaTwice
                | D::BetaOnSum
                | D::BetaOnAll
                | D::ActEarly
                | D::ActMissing
                | D::ActOther
                | D::RoundTowardZero
                | D::ColumnTail
                | D::OutStride
                | D::OutMajor
                | D::RaceStale
                | D::RaceEarlyEpilogue
        );
        let of_gate = matches!(
            self,
            D::GateSwapped | D::GatePairsWrong | D::GateActsOnBoth | D::GateUpMissing | D::TileUnwritten
        );
        let of_groups = matches!(
            self,
            D::GroupOffset
                | D::GroupNext
                | D::GroupFirst
                | D::GroupSwapped
                | D::GroupLastCut
                | D::GroupRowsCut
                | D::GroupAlphaNext
                | D::ActTwice
                | D::ActLate
        );
        both || if t.gate.is_some() { of_gate } else { of_groups }
    }
}
