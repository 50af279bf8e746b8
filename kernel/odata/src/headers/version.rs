//! `OData-Version` and `OData-MaxVersion` (Protocol 4.01, 5.1 and 8.1.5).

/// A version of the protocol that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 4.0.
    V4,
    /// 4.01.
    V401,
}

impl Version {
    /// The text of the header, `4.01`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "4.0",
            Self::V401 => "4.01",
        }
    }
}

/// Why the versions of a request don't fit. 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// `OData-Version` is another one.
    #[error("the header `OData-Version` is `{0}`; this service speaks `4.0` and `4.01`")]
    Unknown(String),
    /// `OData-MaxVersion` is below what is spoken, or no version.
    #[error("the header `OData-MaxVersion` is `{0}`; this service speaks `4.0` and `4.01`")]
    TooLow(String),
}

/// The version of the response: the greatest that is spoken and that the caller understands.
///
/// # Errors
/// When the request is in another version, or the caller understands none that is spoken.
pub fn negotiate_version(
    version: Option<&str>,
    max: Option<&str>,
) -> Result<Version, VersionError> {
    let wrong_version = |text: &str| VersionError::Unknown(crate::value::echo(text));
    let wrong_max = |text: &str| VersionError::TooLow(crate::value::echo(text));
    let given = version.map(str::trim).map(|text| match parse(text) {
        Some((4, 0)) => Ok(Version::V4),
        Some((4, 1)) => Ok(Version::V401),
        _ => Err(wrong_version(text)),
    });
    let given = given.transpose()?;
    let Some(text) = max.map(str::trim) else {
        // Without a greatest version the response is in the request's, or in the greatest.
        return Ok(given.unwrap_or(Version::V401));
    };
    match parse(text) {
        Some((4, 0)) => Ok(Version::V4),
        Some((major, _)) if major >= 4 => Ok(Version::V401),
        _ => Err(wrong_max(text)),
    }
}

/// Major and minor, where `4.01` is `(4, 1)` and `4.0` is `(4, 0)`.
fn parse(text: &str) -> Option<(u32, u32)> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    if !is_number(major) || !is_number(minor) {
        return None;
    }
    // `4.01` is the first minor version after `4.0`, as the standard writes them. One beyond all
    // numbers is beyond all versions, too.
    let number = |digits: &str| match digits.trim_start_matches('0') {
        "" => 0,
        digits => digits.parse().unwrap_or(u32::MAX),
    };
    Some((number(major), number(minor)))
}
