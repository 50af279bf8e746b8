//! `Accept`, `$format` and `Content-Type` (Protocol 4.01, 7 and 8.2.1; JSON Format 4.01, 3).

use super::{split_unquoted, unquote};
use crate::syntax::Format;
use crate::value::echo;

const JSON: &str = "application/json";

/// How much control information a response carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MetadataLevel {
    /// Only next links and counts.
    None,
    /// What a client can't compute.
    #[default]
    Minimal,
    /// Everything.
    Full,
}

impl MetadataLevel {
    /// The value of the format parameter.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Full => "full",
        }
    }
}

/// JSON with its format parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct JsonFormat {
    /// `odata.metadata`.
    pub metadata: MetadataLevel,
    /// `IEEE754Compatible`.
    pub ieee754_compatible: bool,
    /// `odata.streaming`: whether next links and counts may come last. What is written in one go
    /// ignores it.
    pub streaming: bool,
}

impl JsonFormat {
    /// The response's `Content-Type`.
    #[must_use]
    pub fn content_type(self) -> String {
        let compatible = if self.ieee754_compatible { ";IEEE754Compatible=true" } else { "" };
        format!("application/json;odata.metadata={}{compatible}", self.metadata.as_str())
    }
}

/// A format of the metadata document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataFormat {
    /// CSDL XML.
    Xml,
    /// CSDL JSON.
    Json,
}

/// Why there is no format that the caller takes or sends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The caller takes none that there is. 406.
    #[error("`{0}` cannot be served; ask for {1}")]
    NotAcceptable(String, &'static str),
    /// The body is in one that is not read. 415.
    #[error("a body of type `{0}` is not read; send `application/json`")]
    UnsupportedMediaType(String),
}

impl FormatError {
    /// The HTTP status that fits.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::NotAcceptable(..) => 406,
            Self::UnsupportedMediaType(_) => 415,
        }
    }
}

/// A media type with its parameters, names in lower case.
struct MediaType {
    name: String,
    parameters: Vec<(String, String)>,
    quality: f32,
}

impl MediaType {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = split_unquoted(text, ';');
        let name = parts.next()?.to_ascii_lowercase();
        let mut parameters = Vec::new();
        let mut quality = 1.0;
        for part in parts {
            let (key, value) = part.split_once('=')?;
            let (key, value) = (key.trim().to_ascii_lowercase(), unquote(value.trim()));
            if key == "q" {
                quality = value.parse().ok().filter(|quality| (0.0..=1.0).contains(quality))?;
            } else {
                parameters.push((key, value));
            }
        }
        Some(Self { name, parameters, quality })
    }

    /// The JSON format that it describes; none if it is not JSON, or asks for what is unknown.
    fn json(&self) -> Option<JsonFormat> {
        if !matches!(self.name.as_str(), "application/json" | "application/*" | "*/*") {
            return None;
        }
        let mut format = JsonFormat::default();
        for (key, value) in &self.parameters {
            let value = value.to_ascii_lowercase();
            match key.strip_prefix("odata.").unwrap_or(key) {
                "metadata" => {
                    format.metadata = match value.as_str() {
                        "none" => MetadataLevel::None,
                        "minimal" => MetadataLevel::Minimal,
                        "full" => MetadataLevel::Full,
                        _ => return None,
                    }
                }
                "ieee754compatible" => format.ieee754_compatible = boolean(&value)?,
                "streaming" => format.streaming = boolean(&value)?,
                "charset" if !matches!(value.as_str(), "utf-8" | "utf8") => return None,
                // Others are for other formats; the standard says to ignore them.
                _ => {}
            }
        }
        Some(format)
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The media types of an `Accept` header.
struct Accepted {
    /// What the caller takes, best first; ties in their order.
    ranges: Vec<MediaType>,
    /// The names of what the caller doesn't take, whatever else the header says: `q=0`.
    refused: Vec<String>,
}

impl Accepted {
    fn parse(accept: &str) -> Self {
        let all = split_unquoted(accept, ',').filter_map(MediaType::parse);
        let (mut ranges, refused): (Vec<_>, Vec<_>) = all.partition(|range| range.quality > 0.0);
        // What is more specific counts first among equals (RFC 9110, 12.5.1).
        let specific = |range: &MediaType| match range.name.as_str() {
            "*/*" => 0,
            name if name.ends_with("/*") => 1,
            _ => 2,
        };
        ranges.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(specific(b).cmp(&specific(a))));
        let refused = refused.into_iter().filter(|range| range.parameters.is_empty());
        Self { ranges, refused: refused.map(|range| range.name).collect() }
    }

    /// Whether a range that stands for many stands for this one.
    fn takes(&self, name: &str) -> bool {
        !self.refused.iter().any(|refused| refused == name)
    }
}

/// The JSON format of a response; `$format` counts before `Accept`.
///
/// # Errors
/// When the caller takes no JSON. 406.
pub fn negotiate_json(
    format: Option<&Format>,
    accept: Option<&str>,
) -> Result<JsonFormat, FormatError> {
    const OFFER: &str = "`application/json`";
    if let Some(format) = format {
        let refused = || FormatError::NotAcceptable(echo(&format.to_string()), OFFER);
        return match format {
            Format::Json => Ok(JsonFormat::default()),
            Format::Xml | Format::Atom => Err(refused()),
            Format::MediaType(text) => {
                MediaType::parse(text).and_then(|media_type| media_type.json()).ok_or_else(refused)
            }
        };
    }
    match accept.map(str::trim).filter(|accept| !accept.is_empty()) {
        None => Ok(JsonFormat::default()),
        Some(accept) => {
            let accepted = Accepted::parse(accept);
            let is_taken = |range: &&MediaType| range.name == JSON || accepted.takes(JSON);
            let found = accepted.ranges.iter().filter(is_taken).find_map(MediaType::json);
            found.ok_or_else(|| FormatError::NotAcceptable(echo(accept), OFFER))
        }
    }
}

/// The format of the metadata document; XML unless JSON is preferred.
///
/// # Errors
/// When the caller takes neither. 406.
pub fn negotiate_metadata(
    format: Option<&Format>,
    accept: Option<&str>,
) -> Result<MetadataFormat, FormatError> {
    const OFFER: &str = "`application/xml` or `application/json`";
    let of = |media_type: &MediaType, takes: &dyn Fn(&str) -> bool| match media_type.name.as_str() {
        "application/xml" | "text/xml" => Some(MetadataFormat::Xml),
        JSON => Some(MetadataFormat::Json),
        "application/*" | "*/*" if takes("application/xml") => Some(MetadataFormat::Xml),
        "application/*" | "*/*" if takes(JSON) => Some(MetadataFormat::Json),
        _ => None,
    };
    if let Some(format) = format {
        let refused = || FormatError::NotAcceptable(echo(&format.to_string()), OFFER);
        return match format {
            Format::Json => Ok(MetadataFormat::Json),
            Format::Xml => Ok(MetadataFormat::Xml),
            Format::Atom => Err(refused()),
            Format::MediaType(text) => {
                let media_type = MediaType::parse(text);
                media_type.and_then(|media_type| of(&media_type, &|_| true)).ok_or_else(refused)
            }
        };
    }
    match accept.map(str::trim).filter(|accept| !accept.is_empty()) {
        None => Ok(MetadataFormat::Xml),
        Some(accept) => {
            let accepted = Accepted::parse(accept);
            let found =
                accepted.ranges.iter().find_map(|range| of(range, &|name| accepted.takes(name)));
            found.ok_or_else(|| FormatError::NotAcceptable(echo(accept), OFFER))
        }
    }
}

/// The JSON format of a request's body. Without a header it is plain JSON.
///
/// # Errors
/// When the body is of another type. 415.
pub fn parse_content_type(content_type: Option<&str>) -> Result<JsonFormat, FormatError> {
    let Some(text) = content_type.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(JsonFormat::default());
    };
    let found = MediaType::parse(text).filter(|media_type| media_type.name == "application/json");
    let found = found.and_then(|media_type| media_type.json());
    found.ok_or_else(|| FormatError::UnsupportedMediaType(echo(text)))
}
