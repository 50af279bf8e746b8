use std::fmt::Write as _;

/// Bytes as lower-case hexadecimal digits, two for each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        // Writing to a `String` never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
