//! What cuda-gdb says of a launch that hangs.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::StoppedWarp;

/// File and line, innermost first.
type Frames = Vec<(String, usize)>;

/// What the executable prints before each warp's backtrace.
const MARK: &str = "krepro-warp ";

/// The warps with a source line, in order; warps that stand in the same frames are joined.
pub fn stopped_warps(text: &str) -> Vec<StoppedWarp> {
    let mut out: Vec<(Vec<u32>, Frames)> = vec![];
    let mut parts = text.split(MARK);
    let before = parts.next().unwrap_or_default();
    for part in parts {
        let (number, body) = part.split_once('\n').unwrap_or((part, ""));
        let frames = frames(body);
        let Ok(warp) = number.trim().parse::<u32>() else { continue };
        // A warp that has ended cannot be looked at: the debugger stays at the one before it.
        if frames.is_empty() || body.contains("Invalid coordinates") {
            continue;
        }
        match out.iter_mut().find(|(_, known)| *known == frames) {
            Some((warps, _)) => warps.push(warp),
            None => out.push((vec![warp], frames)),
        }
    }
    if out.is_empty() {
        return threads(before);
    }
    out.into_iter().map(|(warps, frames)| StoppedWarp { threads: ranges(&warps), frames }).collect()
}

/// Places in the frames of a backtrace, innermost first; what is inlined stands in one line with its caller.
fn frames(text: &str) -> Frames {
    static PLACE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?P<file>[^\s:()]+\.(?:cu|cuh|h|hpp|hxx|inl|cc|cpp)):(?P<line>\d+)").ok());
    let Some(place) = PLACE.as_ref() else { return vec![] };
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('#'));
    let mut out: Vec<(String, usize)> = vec![];
    for found in lines.flat_map(|line| place.captures_iter(line)) {
        if let Ok(line) = found["line"].parse() {
            let frame = (found["file"].to_owned(), line);
            if !out.contains(&frame) {
                out.push(frame);
            }
        }
    }
    out
}

/// The table of `info cuda threads`: rows of block, first thread, last block, last thread, count, address, file, line.
fn threads(text: &str) -> Vec<StoppedWarp> {
    static ROW: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let row = r"\(\d+,\d+,\d+\)\s+\((?P<from>\d+),\d+,\d+\)\s+\(\d+,\d+,\d+\)\s+\((?P<to>\d+),\d+,\d+\)\s+\d+\s+0x[0-9a-f]+\s+(?P<file>\S+)\s+(?P<line>\d+)";
        Regex::new(row).ok()
    });
    let Some(row) = ROW.as_ref() else { return vec![] };
    let one = |found: regex::Captures<'_>| {
        let frames = vec![(found["file"].to_owned(), found["line"].parse().ok()?)];
        Some(StoppedWarp { threads: format!("{}-{}", &found["from"], &found["to"]), frames })
    };
    let mut out: Vec<StoppedWarp> = vec![];
    for warp in row.captures_iter(text).filter_map(one) {
        if !out.contains(&warp) {
            out.push(warp);
        }
    }
    out
}

/// Threads of warps, as `0-63, 128-159`.
fn ranges(warps: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = vec![];
    for warp in warps {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*warp) => *last = *warp,
            _ => runs.push((*warp, *warp)),
        }
    }
    let range = |(first, last): &(u32, u32)| {
        format!("{}-{}", first.saturating_mul(32), last.saturating_mul(32).saturating_add(31))
    };
    runs.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// The barrier that a source line waits on: the first argument of a call whose name has `wait` or `sync`, or the object that it is a
/// member of. `None` in a line without such a call.
pub fn barrier(line: &str) -> Option<String> {
    static CALL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?P<object>[\w\[\]]+(?:\.|->))?(?P<name>[A-Za-z_]\w*)\s*(?:<[^()]*>)?\(").ok());
    let code = line.split("//").next().unwrap_or_default();
    let waits = |name: &str| ["wait", "sync"].iter().any(|word| name.to_lowercase().contains(word));
    let call = CALL.as_ref()?.captures_iter(code).find(|found| waits(&found["name"]))?;
    let arguments = &code[call.get(0)?.end()..];
    let first = first_argument(arguments).trim().trim_start_matches('&').trim().to_owned();
    if let Some(object) = call.name("object") {
        return Some(object.as_str().trim_end_matches(['.', '-', '>']).to_owned());
    }
    if first.is_empty() { Some(format!("{}()", &call["name"])) } else { Some(first) }
}

fn first_argument(text: &str) -> &str {
    let mut depth = 0_i32;
    for (index, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return &text[..index],
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return &text[..index],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{barrier, stopped_warps};

    #[test]
    fn warps_that_stand_together_are_joined() {
        // As cuda-gdb 13.0 says it of a kernel with line information alone.
        let frame =
            "#0  ring_kernel<<<(8,1,1),(256,1,1)>>> () at /s/tile.cuh:88 in _ZN4ring4waitEPmj inlined from ring.cuh:";
        let text = format!(
            "[Switching focus to CUDA kernel 0, grid 1, block (0,0,0), thread (0,0,0), device 0, sm 3, warp 0, lane 0]\n\
             krepro-warp 0\nCUDA focus unchanged.\n{frame}132\n\n\
             krepro-warp 1\n[Switching focus to CUDA kernel 0, grid 1, block (0,0,0), thread (32,0,0), device 0, sm 3, warp 1, lane 0]\n\
             88\t  while (!done) {{\n{frame}132\n\n\
             krepro-warp 2\nInvalid coordinates requested. CUDA focus unchanged.\n{frame}132\n\n\
             krepro-warp 4\n#0  ring_kernel<<<(8,1,1),(256,1,1)>>> () at ring.cuh:140\n[Inferior 1 (process 9) detached]\n"
        );
        let warps = stopped_warps(&text);
        assert_eq!(warps.len(), 2, "{warps:?}");
        assert_eq!(warps[0].threads, "0-63");
        assert_eq!(warps[0].frames, [("/s/tile.cuh".to_owned(), 88), ("ring.cuh".to_owned(), 132)]);
        assert_eq!((warps[1].threads.as_str(), warps[1].frames[0].1), ("128-159", 140));
    }

    #[test]
    fn without_backtraces_the_table_of_threads_is_read() {
        let text = "  BlockIdx ThreadIdx To BlockIdx To ThreadIdx Count  PC  Filename Line\nKernel 0\n\
            *  (0,0,0)   (0,0,0)   (0,0,0)   (127,0,0)   128 0x00007fffd32f3e50 ring.cuh   132\n\
               (0,0,0) (128,0,0)   (7,0,0)   (255,0,0)   128 0x00007fffd32f4f20 ring.cuh   150\n";
        let warps = stopped_warps(text);
        assert_eq!((warps[0].threads.as_str(), warps[1].threads.as_str()), ("0-127", "128-255"));
        assert_eq!(warps[1].frames, [("ring.cuh".to_owned(), 150)]);
        assert!(stopped_warps("ptrace: Operation not permitted.\n").is_empty());
    }

    #[test]
    fn the_barrier_stands_in_the_call() {
        assert_eq!(barrier("  wait(&full[stage], phase);").as_deref(), Some("full[stage]"));
        assert_eq!(barrier("mbarrier_try_wait(storage(bars, 2), p) // x").as_deref(), Some("storage(bars, 2)"));
        assert_eq!(barrier("full.wait(phase);").as_deref(), Some("full"));
        assert_eq!(barrier("__syncthreads();").as_deref(), Some("__syncthreads()"));
        assert_eq!(barrier("sum += a * b;"), None);
    }
}
