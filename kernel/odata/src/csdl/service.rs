//! The service document (JSON Format 4.01, 5).

use super::visible;
use crate::headers::MetadataLevel;
use crate::json::{push_name, push_string};
use crate::model::{OperationKind, Schema};

/// The service document: the sets and parameterless function imports that the caller sees.
///
/// `root` is the URL of the service with a slash at its end.
#[must_use]
pub fn write_service_document(schema: &dyn Schema, root: &str, metadata: MetadataLevel) -> String {
    let mut out = String::from("{");
    if metadata != MetadataLevel::None {
        push_name(&mut out, "@odata.context");
        push_string(&mut out, &format!("{root}$metadata"));
        out.push(',');
    }
    push_name(&mut out, "value");
    out.push('[');
    let mut first = true;
    let mut item = |name: &str, kind: &str| {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        out.push('{');
        push_name(&mut out, "name");
        push_string(&mut out, name);
        out.push(',');
        push_name(&mut out, "kind");
        push_string(&mut out, kind);
        out.push(',');
        push_name(&mut out, "url");
        push_string(&mut out, name);
        out.push('}');
    };
    for set in visible::sets(schema) {
        item(&set.name, "EntitySet");
    }
    for operation in visible::operations(schema) {
        let is_import = operation.binding.is_none() && operation.kind == OperationKind::Function;
        if is_import && operation.parameters.is_empty() {
            item(&operation.name, "FunctionImport");
        }
    }
    out.push_str("]}");
    out
}
