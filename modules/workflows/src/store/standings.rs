//! Where records of a page stand.

use sea_orm::QueryResult;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query};
use svc_core::{Error, Result};
use svc_data::{Context, EntityModel};
use svc_database::column;
use uuid::Uuid;

use super::keys::KEYS_AT_ONCE;

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) id: Uuid,
    /// The version that it is of, and its state; none without an instance.
    pub(crate) begun: Option<(i64, String)>,
    /// The version that its organisation has drawn for new records.
    pub(crate) drawn: Option<i64>,
}

/// Where those of some records stand that the caller sees; a statement for each 500.
pub(crate) async fn standings(
    ctx: &Context,
    model: &EntityModel,
    ids: &[Uuid],
) -> Result<Vec<Standing>> {
    let place = model
        .organisation
        .ok_or_else(|| Error::internal("records with a workflow belong to an organisation"))?;
    let organisation = || Expr::col(model.column_ref(place));
    let key = || Expr::col(model.column_ref(model.key_index()));
    let told = |table: &str, name: &str| {
        let of = |name: &str| Expr::col((Alias::new(table), Alias::new(name)));
        let mut found = Query::select();
        found
            .expr(of(name))
            .from(Alias::new(table))
            .and_where(of("organisation_id").eq(organisation()))
            .and_where(of("set_name").eq(model.name()));
        if table == "workflows_instances" {
            found.and_where(of("record_id").eq(key()));
        }
        Expr::SubQuery(None, Box::new(found.into()))
    };
    let mut all = Vec::with_capacity(ids.len());
    for part in ids.chunks(KEYS_AT_ONCE) {
        let mut select = Query::select();
        select
            .expr(key())
            .expr(told("workflows_instances", "definition_version"))
            .expr(told("workflows_instances", "state"))
            .expr(told("workflows_current", "version"))
            .from(model.table_iden())
            .and_where(key().is_in(part.iter().copied()))
            .cond_where(model.seen_by(ctx.viewer()));
        let rows = ctx.run(ctx.database().build(&select)).await?;
        all.extend(rows.iter().map(standing).collect::<Result<Vec<_>>>()?);
    }
    Ok(all)
}

fn standing(row: &QueryResult) -> Result<Standing> {
    let (version, state): (Option<i64>, Option<String>) = (column(row, 1)?, column(row, 2)?);
    Ok(Standing { id: column(row, 0)?, begun: version.zip(state), drawn: column(row, 3)? })
}
