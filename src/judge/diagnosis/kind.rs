//! What probes are for.

/// What a probe is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// First in the process, four launches: workspaces, races.
    Repeat,
    /// a = b = 0.
    Zero,
    /// Digits of the column in bias, sum 0.
    Bias,
    /// Digits of the element in residual, sum 0.
    Residual,
    /// a = b = 1.
    Ones,
    /// The same with poisoned padding.
    PoisonedOnes,
    /// Row m of a selects a block of k.
    CoverA,
    /// Row n of b selects a block of k.
    CoverB,
    /// Digits of the row in scale_a, sum 1.
    ScaleA,
    /// Digits of the column in scale_b, sum 1.
    ScaleB,
    /// alpha = 4, sum 1.
    Alpha,
    /// Every operand of the epilogue another constant, sum 1.
    Order,
    /// Sum -2 under an activation.
    Activation,
    /// Sums on the curve of an activation, compared within what a kernel may be away.
    Curve,
    /// beta = 4, sum 1, residual 24.
    Beta,
    /// Zero point 4, sum 1.
    ZeroPoint,
    /// Codes of a through a one-hot b.
    CodesA,
    /// The reverse.
    CodesB,
    /// Positive values, the sum as long as the accumulator holds exactly.
    Accumulator,
    /// Sums that fall between two values of the output.
    Round,
    /// Sums beyond the range of the output.
    Saturate,
    /// Held out: small random integers, all operands random.
    Random,
    /// Held out: poisoned padding.
    RandomPoisoned,
    /// Held out: larger integers.
    RandomLarge,
    /// Held out: block scales at the other end of their range.
    RandomScales,
    /// Held out: powers of two whose codes stay exact when they are read as another type's.
    RandomPowers,
    /// How many elements of a answer to a one-hot b.
    CountA,
    /// The reverse.
    CountB,
    /// A digit of the address in a, through a one-hot b.
    MapA,
    /// The reverse.
    MapB,
    /// Random powers in the block scales of a, through a one-hot b.
    ScaleMapA,
    /// The reverse.
    ScaleMapB,
    /// Rows of one value in a, and 1 in b.
    ValueA,
    /// The reverse.
    ValueB,
    /// One value in all block scales of a.
    ScaleValueA,
    /// The same for b.
    ScaleValueB,
}

impl Kind {
    /// Whether no parameter of a hypothesis is fitted to it.
    pub fn held_out(self) -> bool {
        matches!(
            self,
            Kind::Random | Kind::RandomPoisoned | Kind::RandomLarge | Kind::RandomScales | Kind::RandomPowers
        )
    }

    /// The stem of the probe's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Repeat => "repeat",
            Kind::Zero => "zero",
            Kind::Bias => "bias",
            Kind::Residual => "residual",
            Kind::Ones => "ones",
            Kind::PoisonedOnes => "ones_poisoned",
            Kind::CoverA => "cover_a",
            Kind::CoverB => "cover_b",
            Kind::ScaleA => "scale_a",
            Kind::ScaleB => "scale_b",
            Kind::Alpha => "alpha",
            Kind::Order => "order",
            Kind::Activation => "activation",
            Kind::Curve => "curve",
            Kind::Beta => "beta",
            Kind::ZeroPoint => "zero_point",
            Kind::CodesA => "codes_a",
            Kind::CodesB => "codes_b",
            Kind::Accumulator => "accumulator",
            Kind::Round => "round",
            Kind::Saturate => "saturate",
            Kind::Random => "random",
            Kind::RandomPoisoned => "random_poisoned",
            Kind::RandomLarge => "random_large",
            Kind::RandomScales => "random_scales",
            Kind::RandomPowers => "random_powers",
            Kind::CountA => "count_a",
            Kind::CountB => "count_b",
            Kind::MapA => "map_a",
            Kind::MapB => "map_b",
            Kind::ScaleMapA => "scale_map_a",
            Kind::ScaleMapB => "scale_map_b",
            Kind::ValueA => "value_a",
            Kind::ValueB => "value_b",
            Kind::ScaleValueA => "scale_value_a",
            Kind::ScaleValueB => "scale_value_b",
        }
    }
}
