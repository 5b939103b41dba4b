//! What the user says about a log.

/// Which of several commands is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Select {
    /// The one that begins in this line (from 1).
    Line(usize),
    /// The one that compiles a file of this name, or makes one: a whole path or its end.
    File(String),
}

/// What the user says about a log.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name the log is known by (`-` for standard input).
    pub name: String,
    /// Which of several commands is meant.
    pub select: Option<Select>,
    /// Keep options that make nvcc or the host compiler run or load a program.
    pub trust: bool,
    /// Paths of the log, and what stands in their place here; the first match wins.
    pub map: Vec<(String, String)>,
    /// The architecture of the GPU that failed (`sm_90a`), for `-arch=native`.
    pub arch: Option<String>,
    /// Response files that the user named: the path as the log has it, and the text.
    pub responses: Vec<(String, Vec<u8>)>,
}
