//! Files that are part of the program: scripts, styles, pictures.
//!
//! | A file | Answer |
//! | --- | --- |
//! | whose name holds a hash of its content | may be kept for good |
//! | of any other name | may be kept, and is asked for each time (`ETag`, 304) |
//! | beside which one with `.br` or `.gz` lies | sent in that coding to whoever takes it |
//! | read from the disk (`Svc:Http:FilesFromDisk`) | as it lies there now; must not be kept |

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use svc_core::{Error, Result, hex};
use svc_odata::headers::EntityTag;

use crate::conditional::FOR_GOOD;
use crate::conditional::has_already;
use crate::problem::ApiResult;

/// A file within the program: its path below the folder, with `/` between names, and its content.
pub type EmbeddedFile = (&'static str, &'static [u8]);

/// A folder of files that a module serves with `registry.static_files(…)`.
///
/// ```
/// use svc_http::StaticFiles;
///
/// let files = StaticFiles::embedded(&[("logo-3F7A2B.svg", b"<svg/>"), ("robots.txt", b"")])
///     .hashed(|path| path.starts_with("logo-"));
/// ```
#[derive(Clone)]
pub struct StaticFiles {
    files: BTreeMap<&'static str, Arc<Embedded>>,
    is_hashed: fn(&str) -> bool,
    folder: Option<PathBuf>,
}

struct Embedded {
    content: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
    tag: OnceLock<EntityTag>,
}

impl StaticFiles {
    /// Files that are part of the program. `x.js.br` and `x.js.gz` are codings of `x.js`, not files of their own.
    #[must_use]
    pub fn embedded(files: &[EmbeddedFile]) -> Self {
        let content = |path: &str| {
            files.iter().find(|(known, _)| *known == path).map(|(_, content)| *content)
        };
        let coding_of = |path: &str| {
            let plain = path.strip_suffix(".br").or_else(|| path.strip_suffix(".gz"));
            plain.is_some_and(|plain| content(plain).is_some())
        };
        let own = files.iter().filter(|(path, _)| !coding_of(path));
        let of = |&(path, content_of): &EmbeddedFile| {
            let file = Embedded {
                content: content_of,
                brotli: content(&format!("{path}.br")),
                gzip: content(&format!("{path}.gz")),
                tag: OnceLock::new(),
            };
            (path, Arc::new(file))
        };
        Self { files: own.map(of).collect(), is_hashed: |_| false, folder: None }
    }

    /// The files of one folder among them, by their paths within that.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        let within = |path: &'static str| path.strip_prefix(folder)?.strip_prefix('/');
        let files = self.files.iter();
        Self {
            files: files
                .filter_map(|(path, file)| Some((within(path)?, Arc::clone(file))))
                .collect(),
            is_hashed: self.is_hashed,
            folder: self.folder.as_ref().map(|own| own.join(folder)),
        }
    }

    /// Says which files hold a hash of their content in their names.
    #[must_use]
    pub fn hashed(self, is_hashed: fn(&str) -> bool) -> Self {
        Self { is_hashed, ..self }
    }

    /// Says where the files lie while the application is being developed; `Svc:Http:FilesFromDisk` has them read from
    /// there.
    #[must_use]
    pub fn from_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// The content of a file, as it is now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when there is no such file.
    pub async fn read(&self, path: &str, from_disk: bool) -> Result<Bytes> {
        let missing = || Error::not_found("there is nothing at this address");
        match &self.folder {
            Some(folder) if from_disk => read_from(folder, path).await.ok_or_else(missing),
            _ => self.content(path).map(Bytes::from_static).ok_or_else(missing),
        }
    }

    /// The content of a file that is part of the program.
    pub(crate) fn content(&self, path: &str) -> Option<&'static [u8]> {
        self.files.get(path).map(|file| file.content)
    }

    /// The paths of the files that are part of the program.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.files.keys().copied()
    }

    /// Whether the program has no file of the folder.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The answer to a request for one of them.
    pub(crate) async fn answer(
        &self,
        path: &str,
        asked: &HeaderMap,
        from_disk: bool,
    ) -> ApiResult<Response> {
        if from_disk && self.folder.is_some() {
            let content = self.read(path, true).await?;
            return Ok((kind(path), [(CACHE_CONTROL, "no-store")], content).into_response());
        }
        let missing = || Error::not_found("there is nothing at this address");
        let file = self.files.get(path).ok_or_else(missing)?;
        let cache = if (self.is_hashed)(path) { FOR_GOOD } else { "public, no-cache" };
        let (content, coding) = file.coded(asked);
        let tag = file.tag(coding);
        let mut about = vec![
            (ETAG, header(&tag.to_string())),
            (CACHE_CONTROL, HeaderValue::from_static(cache)),
        ];
        if file.brotli.is_some() || file.gzip.is_some() {
            about.push((VARY, HeaderValue::from_static("accept-encoding")));
        }
        let about: HeaderMap = about.into_iter().collect();
        if has_already(asked, &tag) {
            return Ok((StatusCode::NOT_MODIFIED, about).into_response());
        }
        let mut response = (about, kind(path), Bytes::from_static(content)).into_response();
        if let Some(coding) = coding {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        Ok(response)
    }
}

impl std::fmt::Debug for StaticFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("StaticFiles");
        debug
            .field("files", &self.files.len())
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Embedded {
    /// The content in the smallest coding that the client takes.
    fn coded(&self, asked: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
        let takes = |coding| takes(asked, coding);
        match (self.brotli, self.gzip) {
            (Some(content), _) if takes("br") => (content, Some("br")),
            (_, Some(content)) if takes("gzip") => (content, Some("gzip")),
            _ => (self.content, None),
        }
    }

    /// The tag of the content in a coding: other bytes, another tag (RFC 9110, section 8.8.3.3).
    fn tag(&self, coding: Option<&str>) -> EntityTag {
        let plain = self.tag.get_or_init(|| {
            let digest = Sha256::digest(self.content);
            EntityTag { weak: false, tag: hex(&digest[..12]) }
        });
        let suffix = coding.map(|coding| format!("-{coding}")).unwrap_or_default();
        EntityTag { weak: false, tag: format!("{}{suffix}", plain.tag) }
    }
}

fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

fn kind(path: &str) -> [(HeaderName, HeaderValue); 1] {
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    let is_text =
        kind.type_() == "text" || kind.subtype() == "javascript" || kind.subtype() == "json";
    let charset = if is_text { "; charset=utf-8" } else { "" };
    [(CONTENT_TYPE, header(&format!("{}{charset}", kind.essence_str())))]
}

/// Whether a client takes a coding (RFC 9110, section 12.5.3).
fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let lines = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let weight =
            weight.trim().strip_prefix("q=").and_then(|text| text.trim().parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case(coding) && weight.is_some_and(|weight| weight > 0.0)
    })
}

/// A file below a folder, where a path leads there and not out of it.
async fn read_from(folder: &Path, path: &str) -> Option<Bytes> {
    let is_plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains('\\');
    if !path.split('/').all(is_plain) {
        return None;
    }
    let folder = tokio::fs::canonicalize(folder).await.ok()?;
    let file = tokio::fs::canonicalize(folder.join(path)).await.ok()?;
    if !file.starts_with(&folder) {
        return None;
    }
    tokio::fs::read(file).await.ok().map(Bytes::from)
}
