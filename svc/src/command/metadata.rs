//! The commands that describe the entity sets. They need no database, and begin nothing.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use svc_application::Metadata;
use svc_core::Result;

/// What is printed, and how.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only this set, with all that is known of it
    #[arg(long)]
    set: Option<String>,
    /// The metadata document instead, as clients read it
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// A form of the metadata document.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// CSDL XML
    Xml,
    /// CSDL JSON
    Json,
}

/// Where the types go.
#[derive(Debug, Args)]
pub(crate) struct TypesArguments {
    /// The file to write, such as `web/types.ts`; without it they are printed
    #[arg(long)]
    out: Option<PathBuf>,
    /// Write nothing, and fail when the file isn't as it would be written
    #[arg(long, requires = "out")]
    check: bool,
}

/// What the sets are, in words or as a document.
pub(crate) fn describe(metadata: &Metadata, arguments: &Arguments) -> Result<String> {
    let set = arguments.set.as_deref();
    match (arguments.format, set) {
        (Some(Format::Xml), set) => metadata.xml(set),
        (Some(Format::Json), set) => metadata.json(set),
        (None, Some(set)) => metadata.describe(set),
        (None, None) => Ok(metadata.list()),
    }
}

/// Writes the types, and says what was done; without a file, answers with them. A file that is as
/// it should be is left alone, so that nothing is built anew because of it.
pub(crate) fn types(metadata: &Metadata, arguments: &TypesArguments) -> Result<String, String> {
    let types = metadata.typescript();
    let Some(file) = &arguments.out else { return Ok(types) };
    let name = file.display();
    if fs::read_to_string(file).is_ok_and(|known| known == types) {
        return Ok(format!("{name} is up to date\n"));
    }
    if arguments.check {
        return Err(format!("{name} is not up to date; write it anew with `types --out {name}`"));
    }
    fs::write(file, types).map_err(|error| format!("can't write {name}: {error}"))?;
    Ok(format!("wrote {name}\n"))
}
