use crate::database::Backend;

/// A JSON list of objects as the table `r`, in place of a statement's `?`: many rows in one value,
/// with one prepared statement for any number of them. An identifier is 32 hexadecimal digits.
///
/// `columns` are the names of the objects' members, each with its type on PostgreSQL.
#[must_use]
pub fn json_rows(backend: Backend, columns: &[(&str, &str)]) -> String {
    match backend {
        Backend::Postgres => {
            let columns: Vec<String> =
                columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
            format!("json_to_recordset(CAST(? AS json)) AS r({})", columns.join(", "))
        }
        Backend::Sqlite => {
            let column = |(name, kind): &(&str, &str)| match *kind {
                "uuid" => format!("unhex(value ->> '{name}') AS {name}"),
                _ => format!("value ->> '{name}' AS {name}"),
            };
            let columns: Vec<String> = columns.iter().map(column).collect();
            format!("(SELECT {} FROM json_each(?)) AS r", columns.join(", "))
        }
    }
}
