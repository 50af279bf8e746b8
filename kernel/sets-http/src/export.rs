//! `GET /odata/v1/Products/$export?format=csv&columns=sku,name`: the entities of a set as a file.
//!
//! It takes the options of a list (`$filter`, `$search`, `$orderby`, `$top`, `$skip`, `$compute`, `$apply`) and
//! reads through the same front, so it holds what the caller may see, and goes out while it is read, however much
//! it is. `columns` names properties in the order in which they are wanted; without it all are there, in the order
//! of the metadata. Formats are an open list: `registry.export_format(…)` adds one, such as a spreadsheet.
//!
//! Before anything leaves, the event [`SetExported`] is committed: who takes a set away is known, also where the
//! client goes before the end.

mod csv;
mod json;

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use http::{HeaderValue, Method};
use parking_lot::RwLock;
use serde::Serialize;
use serde_json::{Value, json};
use svc_core::{Error, Kind, Registry, Result};
use svc_events::Publish as _;
use svc_odata::model::EntitySet;
use svc_odata::value::Value as Literal;
use svc_sets::{ODataSettings, ReadingColumn, Row, RowSink};

use super::paths::{SetCall, SetPath};
use super::stream::{self, Streaming};

pub(super) use csv::Csv;
pub(super) use json::JsonFile;

/// Formats of exports, in the list of modules.
const EXPORT_FORMAT: Kind = Kind::new("formats of exports");

/// A form in which entities leave as a file.
pub trait ExportFormat: Send + Sync + 'static {
    /// What `format` calls it, and the ending of the file's name.
    fn name(&self) -> &'static str;

    /// The type of the file.
    fn media_type(&self) -> &'static str;

    /// What the OpenAPI description says of it: bytes, unless it is JSON.
    fn schema(&self) -> Value {
        json!({"type": "string", "format": "binary"})
    }

    /// A file in the making, with these columns. It is written to while it is sent.
    fn begin(&self, columns: &[ReadingColumn], out: &mut Vec<u8>) -> Box<dyn ExportFile>;
}

/// A file in the making.
pub trait ExportFile: Send {
    /// Appends a row, whose values are in the order of the columns.
    ///
    /// # Errors
    ///
    /// A value that can't be written in this form.
    fn row(&mut self, values: &[Literal], out: &mut Vec<u8>) -> Result<()>;

    /// Appends what ends the file.
    ///
    /// # Errors
    ///
    /// What can't be written.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// Somebody takes the records of a set as a file, as far as they see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetExported {
    /// The set.
    pub set: String,
    /// The form of the file.
    pub format: &'static str,
    /// The names of the options that say which records and what of them; what they say stays out, since it holds
    /// values of records. None of who takes all.
    pub options: Vec<&'static str>,
}

/// The exports' word in a module's `configure`.
pub trait ExportRegistry {
    /// Adds a form in which entities leave as a file.
    fn export_format(&mut self, format: Arc<dyn ExportFormat>);
}

impl ExportRegistry for Registry {
    fn export_format(&mut self, format: Arc<dyn ExportFormat>) {
        self.contribute(EXPORT_FORMAT, format.name(), format.media_type());
        self.part::<Formats>().0.write().push(format);
    }
}

/// The forms of all modules, as they are registered.
#[derive(Clone, Default)]
pub(super) struct Formats(Arc<RwLock<Vec<Arc<dyn ExportFormat>>>>);

impl Formats {
    fn all(&self) -> Vec<Arc<dyn ExportFormat>> {
        self.0.read().clone()
    }
}

/// The path `$export` of sets.
pub(super) struct Export(pub(super) Formats);

#[async_trait]
impl SetPath for Export {
    fn name(&self) -> &'static str {
        "export"
    }

    fn description(&self) -> &'static str {
        "the entities of a set as a file"
    }

    fn method(&self) -> Method {
        Method::GET
    }

    fn describe(&self, set: &EntitySet) -> Option<Value> {
        if !set.capabilities.readable {
            return None;
        }
        let formats = self.0.all();
        let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
        let content: serde_json::Map<_, _> = formats
            .iter()
            .map(|format| (format.media_type().to_owned(), json!({"schema": format.schema()})))
            .collect();
        let own = [
            json!({"name": "format", "in": "query", "required": false, "description": "The form of the file.",
                "schema": {"type": "string", "enum": names, "default": DEFAULT}}),
            json!({"name": "columns", "in": "query", "required": false,
                "description": "Names of properties, in the order in which they are wanted; without it all.",
                "schema": {"type": "string"}}),
        ];
        let parameters: Vec<Value> =
            own.into_iter().chain(super::describe::of_export(set)).collect();
        Some(json!({
            "summary": format!("Exports {} as a file.", set.name),
            "parameters": parameters,
            "responses": super::describe::read_responses(
                json!({"200": {"description": "The file.", "content": content}})),
        }))
    }

    async fn answer(&self, call: SetCall) -> Result<Response> {
        let wanted = Wanted::read(&call, &self.0.all())?;
        let settings = call.ctx.app().settings::<ODataSettings>();
        let streaming = Streaming {
            in_pieces: true,
            reader_timeout: settings.reader_timeout,
            trailers: Streaming::takes_trailers(&call.headers),
        };
        let (media_type, ending) = (wanted.format.media_type(), wanted.format.name());
        let name = format!("attachment; filename=\"{}.{ending}\"", call.set);
        let (body, headers) = stream::body(streaming, move |out| write(call, wanted, out)).await?;
        let mut response = Response::new(Body::new(body));
        let own = [
            (CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
            (VARY, HeaderValue::from_static("Authorization, Cookie")),
        ];
        response.headers_mut().extend(headers);
        response.headers_mut().extend(own);
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(CONTENT_DISPOSITION, name);
        }
        Ok(response)
    }
}

/// The format of who names none.
const DEFAULT: &str = "json";

/// The options that an export tells of, by name.
const TOLD: [&str; 8] =
    ["columns", "$apply", "$compute", "$filter", "$orderby", "$search", "$skip", "$top"];

/// Whether an option of an address is one of these, in any case and with or without its `$`.
fn is_named(known: &str, given: &str) -> bool {
    let bare = |name: &str| name.trim_start_matches('$').to_ascii_lowercase();
    bare(known) == bare(given)
}

/// What an export is to be.
struct Wanted {
    format: Arc<dyn ExportFormat>,
    /// The names of the columns; none for all.
    columns: Option<Vec<String>>,
    /// The options of the list.
    options: String,
    /// The names of all of them.
    told: Vec<&'static str>,
}

impl Wanted {
    fn read(call: &SetCall, formats: &[Arc<dyn ExportFormat>]) -> Result<Self> {
        let (mut format, mut columns, mut options) = (None, None, Vec::new());
        let mut told = Vec::new();
        for option in call.query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) =
                form_urlencoded::parse(option.as_bytes()).next().unwrap_or_default();
            told.extend(TOLD.into_iter().filter(|known| is_named(known, &name)));
            match &*name {
                "format" | "$format" => format = Some(value.into_owned()),
                "columns" => columns = Some(value.into_owned()),
                _ => options.push(option),
            }
        }
        let name = format.as_deref().unwrap_or(DEFAULT);
        let found = formats.iter().find(|format| format.name() == name).ok_or_else(|| {
            let known: Vec<&str> = formats.iter().map(|format| format.name()).collect();
            let message =
                format!("`{name}` isn't a form of an export; there are `{}`", known.join("`, `"));
            Error::malformed(message).target("format")
        })?;
        let columns: Option<Vec<String>> =
            columns.map(|text| text.split(',').map(|name| name.trim().to_owned()).collect());
        let mut options = options.join("&");
        if let Some(columns) = &columns {
            if columns.iter().enumerate().any(|(place, name)| columns[..place].contains(name)) {
                return Err(Error::malformed("a column is named twice").target("columns"));
            }
            let select: String =
                form_urlencoded::byte_serialize(columns.join(",").as_bytes()).collect();
            options.push_str(if options.is_empty() { "$select=" } else { "&$select=" });
            options.push_str(&select);
        }
        told.sort_unstable();
        told.dedup();
        Ok(Self { format: Arc::clone(found), columns, options, told })
    }

    /// The places of the values that are wanted, in their order.
    fn places(&self, columns: &[ReadingColumn]) -> Result<Vec<usize>> {
        let Some(names) = &self.columns else { return Ok((0..columns.len()).collect()) };
        let place = |name: &String| {
            let found = columns.iter().position(|column| column.name == *name);
            found.ok_or_else(|| {
                Error::malformed(format!("`{name}` isn't a column of it")).target("columns")
            })
        };
        names.iter().map(place).collect()
    }
}

/// Writes the file.
async fn write(call: SetCall, wanted: Wanted, mut out: stream::Out) -> Result<stream::Out> {
    let reading = call.sets.reading(&call.ctx, &call.set, &wanted.options).await?;
    if reading.has_related() {
        let message = "a file has no related entities; compute what you need of them";
        return Err(Error::not_implemented(message).target("$expand"));
    }
    let columns = reading.columns();
    let places = wanted.places(&columns)?;
    let columns: Vec<ReadingColumn> = places.iter().map(|place| columns[*place].clone()).collect();
    if call.method != Method::HEAD {
        let (set, format) = (call.set.clone(), wanted.format.name());
        let exported = SetExported { set, format, options: wanted.told };
        call.ctx.transact(async |uow| uow.raise_domain(exported)).await?;
    }
    let mut reader = reading.open().await?;
    let file = wanted.format.begin(&columns, &mut out.raw);
    let mut rows =
        FileRows { file, places, values: Vec::new(), out: Vec::new(), until: out.room() };
    loop {
        let goes_on = reader.read_next(&mut rows).await?;
        out.raw.append(&mut rows.out);
        if !goes_on {
            break;
        }
        out.send(|| reader.pause()).await?;
    }
    rows.file.end(&mut out.raw)?;
    Ok(out)
}

/// Writes rows to a file.
struct FileRows {
    file: Box<dyn ExportFile>,
    places: Vec<usize>,
    values: Vec<Literal>,
    out: Vec<u8>,
    until: usize,
}

impl RowSink for FileRows {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let mut read = row.values()?;
        self.values.clear();
        for place in &self.places {
            self.values.push(std::mem::replace(&mut read[*place], Literal::Null));
        }
        self.file.row(&self.values, &mut self.out)
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.until
    }
}
