//! For which properties each set's index was built, and how far.

use svc_core::Result;
use svc_data::{Context, UnitOfWork};
use svc_database::column;

/// Notes what the index of a set is built for. Answers whether it was built for something else, so that it is to be
/// built: to one node only.
pub(crate) async fn declare(uow: &UnitOfWork, set: &str, declaration: &str) -> Result<bool> {
    let sql = "INSERT INTO search_sets (set_name, declaration, generation, is_built) VALUES (?, ?, 1, FALSE) \
               ON CONFLICT (set_name) DO UPDATE SET declaration = excluded.declaration, \
               generation = search_sets.generation + 1, is_built = FALSE, after_key = NULL \
               WHERE search_sets.declaration <> excluded.declaration";
    let values = [set.into(), declaration.into()];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? > 0)
}

/// The sets of which there is an index.
pub(crate) async fn all(uow: &UnitOfWork) -> Result<Vec<String>> {
    let sql = "SELECT set_name FROM search_sets ORDER BY set_name";
    let rows = uow.rows(uow.context().database().statement(sql, [])).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// The number of the declaration that the index of a set is for.
pub(crate) async fn generation(uow: &UnitOfWork, set: &str) -> Result<i64> {
    let sql = "SELECT generation FROM search_sets WHERE set_name = ?";
    let rows = uow.rows(uow.context().database().statement(sql, [set.into()])).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}

/// The key behind which the build of a set goes on.
pub(crate) async fn place(uow: &UnitOfWork, set: &str) -> Result<Option<String>> {
    let sql = "SELECT after_key FROM search_sets WHERE set_name = ?";
    let rows = uow.rows(uow.context().database().statement(sql, [set.into()])).await?;
    rows.first().map_or(Ok(None), |row| column(row, 0))
}

/// Notes where a build goes on.
pub(crate) async fn go_on_at(uow: &UnitOfWork, set: &str, after: Option<String>) -> Result<()> {
    let sql = "UPDATE search_sets SET after_key = ? WHERE set_name = ?";
    let values = [after.into(), set.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Notes that a build is finished; the next begins anew.
pub(crate) async fn finish(uow: &UnitOfWork, set: &str) -> Result<()> {
    let sql = "UPDATE search_sets SET is_built = TRUE, after_key = NULL WHERE set_name = ?";
    uow.execute(uow.context().database().statement(sql, [set.into()])).await.map(drop)
}

/// Forgets a set of which nothing is left.
pub(crate) async fn forget(uow: &UnitOfWork, set: &str) -> Result<()> {
    for sql in [
        "DELETE FROM search_spaces WHERE set_name = ?",
        "DELETE FROM search_sets WHERE set_name = ?",
    ] {
        uow.execute(uow.context().database().statement(sql, [set.into()])).await?;
    }
    Ok(())
}

/// Whether the index of a set knows all records.
pub(crate) async fn is_built(ctx: &Context, set: &str, declaration: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM search_sets WHERE set_name = ? AND declaration = ? AND is_built";
    let values = [set.into(), declaration.into()];
    Ok(ctx.run_one(ctx.database().statement(sql, values)).await?.is_some())
}
