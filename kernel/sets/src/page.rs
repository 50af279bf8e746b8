//! A page of entities, read in pieces, so that a large one never stands in memory.
//!
//! | State | What is held meanwhile | Left when |
//! | --- | --- | --- |
//! | batches | nothing between two of them | the page ends |
//! | cursor | a connection, and the statement's snapshot | the page ends, or it is paused |
//!
//! A page of more than one batch has a cursor, unless related entities are read between its rows,
//! which would take a second connection, or a unit of work has the only one. A batch goes on behind
//! the row where the one before ended, as the next page does, so a reader that pauses loses its
//! cursor but not its place. A reader that is dropped gives its connection back.
//!
//! Aggregated rows have no key: a batch of them leaves out as many as were read, and the database
//! computes all of them anew for it. So their batches are larger, and a cursor that is too old makes
//! way for another one; only a client that has let it wait gets batches.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use sea_orm::{QueryResult, Statement};
use svc_core::Result;
use svc_data::{Context, Expense};
use svc_database::{Backend, CursorRows, Database, FirstRows, ReadLimit};
use svc_odata::bind::{BoundExpr, BoundKind};
use svc_odata::value::Value as Literal;

use super::aggregated::AggregatedColumn;
use super::counts::first_number;
use super::expanded::Related;
use super::few::{Beginning, Goes, Part, found_by};
use super::form::Form;
use super::model::Sets;
use super::order::{Terms, marks};
use super::page_request::PageRequest;
use super::rows::Layout;
use super::sink::{Row, RowSink};
use super::source::Source;
use super::sql::Translator;
use super::token::{Position, TokenKeys};

/// How many rows one statement of several returns.
const BATCH: u64 = 1_000;

/// How many it returns of aggregated rows, which are computed anew for each.
const BATCH_AGGREGATED: u64 = 5_000;

/// How many it returns where related entities are read for them, which are as many again or more.
const BATCH_WITH_RELATED: u64 = 200;

/// How many bytes of long values a batch holds, give or take a row. What is left comes with the next.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// How long a cursor lives, unless a statement may take less than four times as long: until then
/// it keeps SQLite's log from being cut off.
const CURSOR_LIFETIME: Duration = Duration::from_secs(10);

/// The entities of a page that is explained.
const EXPLAINED: u64 = 100;

/// A page of entities that is being read.
pub struct PageReader<'a> {
    sets: &'a Sets,
    ctx: &'a Context,
    source: Cow<'a, Source>,
    /// In which goes its beginning is looked for, until something was read.
    goes: Option<Goes>,
    request: PageRequest<'a>,
    count: Option<u64>,
    state: State<'a>,
    /// How many rows were handed on.
    written: u64,
    next: Option<Position>,
}

enum State<'a> {
    Batches,
    Cursor(Box<Cursor<'a>>),
    Ended,
}

struct Cursor<'a> {
    plan: PagePlan<'a>,
    rows: CursorRows,
    last: Option<QueryResult>,
    /// When it was, or its first row came: what the database takes for that isn't the cursor's.
    begun: Instant,
}

/// How rows of a page are read.
enum PagePlan<'a> {
    Entities { layout: Box<Layout<'a>>, marks: Vec<(usize, Form)>, from: Vec<usize> },
    Aggregated(Vec<AggregatedColumn<'a>>),
}

impl PagePlan<'_> {
    /// The places of the columns whose values may be long.
    fn long(&self) -> Vec<usize> {
        match self {
            Self::Entities { layout, .. } => layout.long(),
            Self::Aggregated(columns) => {
                let columns = columns.iter().enumerate();
                columns.filter(|(_, it)| it.form.is_long()).map(|(place, _)| place).collect()
            }
        }
    }

    /// Where each row has the values that lead to what is related.
    fn from(&self) -> &[usize] {
        match self {
            Self::Entities { from, .. } => from,
            Self::Aggregated(_) => &[],
        }
    }

    fn row<'r>(
        &'r self,
        backend: Backend,
        row: &'r QueryResult,
        related: &'r [Related],
        etags: bool,
    ) -> Row<'r> {
        match self {
            Self::Entities { layout, .. } => Row::entity(layout, row, related, etags),
            Self::Aggregated(columns) => Row::aggregated(backend, columns, row),
        }
    }
}

impl Sets {
    /// A token for what comes after a position in the answer to `query`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the application has no keys.
    pub fn seal_position(&self, ctx: &Context, query: &str, position: &Position) -> Result<String> {
        self.token_keys.seal(ctx, query, position)
    }

    /// The position that a token was made for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](svc_core::ErrorKind::Malformed) when it was made by nobody here,
    /// or for another query or person.
    pub fn open_position(&self, ctx: &Context, query: &str, token: &str) -> Result<Position> {
        TokenKeys::open(ctx, query, token)
    }

    /// Begins to read a page of entities: counts them, where that is asked for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission;
    /// [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented) for a feature that is
    /// not served.
    pub async fn open_page<'a>(
        &'a self,
        ctx: &'a Context,
        source: &'a Source,
        request: PageRequest<'a>,
    ) -> Result<PageReader<'a>> {
        self.require_view(ctx, source.set())?;
        let mut reader = PageReader::new(self, ctx, source, request).await?;
        if request.query.count {
            let select = self.count_query(ctx, &reader.source, request.query)?;
            reader.count = Some(first_number(ctx, &select).await?);
        }
        reader.begin_cursor().await?;
        Ok(reader)
    }
}

impl Sets {
    /// How the database would answer the first page of a set under options of an address: the steps of
    /// its plan, a line for each, behind those of the plan for its keys where these are looked for first. For those who look for a missing index.
    ///
    /// # Errors
    ///
    /// As [`Sets::understand`], [`Sets::bind`] and [`Sets::open_page`].
    pub async fn explain(&self, ctx: &Context, set: &str, options: &str) -> Result<Vec<String>> {
        let address = self.understand(ctx, set, options)?;
        let source = self.source(ctx, &address).await?;
        self.require_view(ctx, source.set())?;
        let query = self.bind(ctx, source.set(), &address.options, None)?;
        let request = PageRequest {
            query: &query,
            after: None,
            skip: 0,
            take: EXPLAINED,
            tells_next: true,
            etags: true,
        };
        let mut reader = PageReader::new(self, ctx, &source, request).await?;
        let mut plan = self.explain_keys(ctx, &source, &query, reader.goes.as_ref()).await?;
        let beginning = reader.next_beginning().await?;
        let (statement, _) = reader.plan(beginning.as_ref(), None, reader.wanted())?;
        plan.extend(ctx.database().explain(statement).await?);
        Ok(plan)
    }
}

impl<'a> PageReader<'a> {
    async fn new(
        sets: &'a Sets,
        ctx: &'a Context,
        source: &'a Source,
        request: PageRequest<'a>,
    ) -> Result<Self> {
        let (count, state) = (None, State::Batches);
        let goes = sets.goes(ctx, source, &request);
        // A count is of all that there is, and where these are few, so is the page.
        let source = if goes.is_none() || request.query.count {
            sets.narrowed_to_few(ctx, source, request.query).await?
        } else {
            Cow::Borrowed(source)
        };
        let goes = goes.filter(|_| matches!(source, Cow::Borrowed(_)));
        Ok(Self { sets, ctx, source, goes, request, count, state, written: 0, next: None })
    }

    /// How many there are in all, where that was asked for.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// Where the page ended, once it has; none when nothing comes after it.
    #[must_use]
    pub fn into_next(self) -> Option<Position> {
        self.next
    }

    /// Hands the next entities to a sink: until it is full where rows come one by one, else as many
    /// as were read at once. Answers whether there are more.
    ///
    /// # Errors
    ///
    /// A fault of the database, or what the sink says. What it took before stays.
    pub async fn read_next<S: RowSink + ?Sized>(&mut self, sink: &mut S) -> Result<bool> {
        if let State::Cursor(cursor) = &self.state
            && cursor.begun.elapsed() > self.cursor_lifetime()
        {
            if self.is_aggregated() {
                self.state = State::Batches;
                self.begin_cursor().await?;
            } else {
                self.pause()?;
            }
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Ended => Ok(false),
            State::Batches => self.read_batch(sink).await,
            State::Cursor(cursor) => self.read_rows(cursor, sink).await,
        }
    }

    /// Gives up what is held, since nobody is going to read on for a while.
    ///
    /// # Errors
    ///
    /// A row that can't be read.
    pub fn pause(&mut self) -> Result<()> {
        if let State::Cursor(cursor) = &self.state {
            let plan = &cursor.plan;
            if let Some(last) = &cursor.last {
                self.next = Some(self.position(plan, last)?);
            }
            self.state = State::Batches;
        }
        Ok(())
    }

    /// How many rows are still to be asked for. One more tells whether there are more.
    fn wanted(&self) -> u64 {
        let left = self.request.take.saturating_sub(self.written);
        left.saturating_add(self.request.tells_next.into())
    }

    /// How many rows a statement of several returns.
    fn batch(&self) -> u64 {
        match &self.request.query.expand[..] {
            _ if self.is_aggregated() => BATCH_AGGREGATED,
            [] => BATCH,
            _ => BATCH_WITH_RELATED,
        }
    }

    /// Whether its rows are no entities.
    fn is_aggregated(&self) -> bool {
        self.request.query.row.entity_type.is_none()
    }

    /// Begins to read what is left by a cursor, where it is more than one batch, and may be.
    async fn begin_cursor(&mut self) -> Result<()> {
        let query = self.request.query;
        if self.wanted() <= self.batch()
            || !query.expand.is_empty()
            || self.ctx.is_in_unit_of_work()
        {
            return Ok(());
        }
        let (statement, plan) = self.plan(None, None, self.wanted())?;
        // A cursor keeps its statement prepared, which a long one isn't to be.
        if Database::stays_prepared(&statement) {
            self.ctx.spend(Expense::Statements, 1)?;
            let rows = self.ctx.database().cursor(statement).await?;
            let cursor = Cursor { plan, rows, last: None, begun: Instant::now() };
            self.state = State::Cursor(Box::new(cursor));
        }
        Ok(())
    }

    async fn read_batch<S: RowSink + ?Sized>(&mut self, sink: &mut S) -> Result<bool> {
        let limit = self.wanted().min(self.batch());
        let is_last = limit == self.wanted();
        let before = self.next.take();
        let (FirstRows { mut rows, is_cut }, plan, full) = loop {
            let beginning = self.next_beginning().await?;
            let (statement, plan) = self.plan(beginning.as_ref(), before.as_ref(), limit)?;
            let long = plan.long();
            let at_most = ReadLimit { long: &long, bytes: BATCH_BYTES };
            let first = self.ctx.run_within(statement, at_most).await?;
            let full = first.rows.len() as u64 == limit || first.is_cut;
            if full || beginning.is_none() {
                break (first, plan, full);
            }
        };
        self.goes = None;
        // What is left of a batch is a batch of its own.
        let is_last = is_last && !is_cut;
        let left = self.request.take - self.written;
        rows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let expands = &self.request.query.expand;
        let etags = self.request.etags;
        let related = self.sets.related(self.ctx, expands, plan.from(), &rows, etags).await?;
        sink.expect(rows.len());
        let backend = self.ctx.database().backend();
        for row in &rows {
            self.hand_on(sink, plan.row(backend, row, &related, etags))?;
        }
        if let Some(budget) = self.ctx.budget().filter(|_| !self.ctx.holds_answer()) {
            budget.let_go();
        }
        let goes_on = full && limit > 0 && (!is_last || self.request.tells_next);
        if goes_on {
            // Where the page was full before, this only told that there are more.
            let last = rows.last().map(|last| self.position(&plan, last)).transpose()?;
            self.next = last.or(before);
        }
        if goes_on && !is_last {
            self.state = State::Batches;
        }
        Ok(goes_on && !is_last)
    }

    /// What the page may begin with; none where it is looked for in the whole source, or in all that there is of it.
    async fn next_beginning(&mut self) -> Result<Option<Beginning>> {
        let Some(goes) = &mut self.goes else { return Ok(None) };
        let query = self.request.query;
        Ok(match self.sets.next_part(self.ctx, &self.source, query, goes).await? {
            Some(Part::First(beginning)) => Some(beginning),
            Some(Part::All(source)) => {
                self.goes = None;
                self.source = Cow::Owned(source);
                None
            }
            None => None,
        })
    }

    async fn read_rows<S: RowSink + ?Sized>(
        &mut self,
        mut cursor: Box<Cursor<'a>>,
        sink: &mut S,
    ) -> Result<bool> {
        let (backend, etags) = (self.ctx.database().backend(), self.request.etags);
        let mut ended = false;
        loop {
            let Some(row) = cursor.rows.try_next().await? else {
                return Ok(false);
            };
            if self.written == self.request.take {
                ended = true;
                break;
            }
            self.hand_on(sink, cursor.plan.row(backend, &row, &[], etags))?;
            if cursor.last.replace(row).is_none() {
                cursor.begun = Instant::now();
            }
            if sink.is_full() {
                break;
            }
        }
        if let Some(last) = cursor.last.as_ref().filter(|_| ended) {
            self.next = Some(self.position(&cursor.plan, last)?);
            return Ok(false);
        }
        self.state = State::Cursor(cursor);
        Ok(true)
    }

    /// How long a cursor lives: the client's time counts as the statement's, which isn't to be
    /// ended for that.
    fn cursor_lifetime(&self) -> Duration {
        let quarter = self.ctx.database().statement_timeout().map(|limit| limit / 4);
        quarter.map_or(CURSOR_LIFETIME, |quarter| quarter.min(CURSOR_LIFETIME))
    }

    fn hand_on<S: RowSink + ?Sized>(&mut self, sink: &mut S, row: Row<'_>) -> Result<()> {
        sink.row(&row.behind(self.written))?;
        self.written += 1;
        Ok(())
    }

    fn position(&self, plan: &PagePlan<'_>, last: &QueryResult) -> Result<Position> {
        let marks = match plan {
            PagePlan::Entities { marks: places, .. } => {
                marks(self.ctx.database().backend(), places, last)?
            }
            PagePlan::Aggregated(_) => Vec::new(),
        };
        let before = self.request.after.map_or(0, |position| position.sent);
        Ok(Position { marks, sent: before + self.written })
    }

    /// The statement for at most so many rows behind a position, and how they are read: of the whole source or of a beginning.
    fn plan(
        &self,
        beginning: Option<&Beginning>,
        reached: Option<&Position>,
        limit: u64,
    ) -> Result<(Statement, PagePlan<'a>)> {
        let query = self.request.query;
        if self.is_aggregated() {
            let sent = self.request.after.map_or(0, |position| position.sent);
            let behind = self.request.skip.saturating_add(sent).saturating_add(self.written);
            let (mut select, columns) =
                self.sets.select_aggregated(self.ctx, &self.source, query, behind)?;
            let statement = self.ctx.database().build(select.limit(limit));
            return Ok((statement, PagePlan::Aggregated(columns)));
        }
        let source = beginning.map_or(&*self.source, |beginning| &beginning.source);
        // A few records are looked at one by one. What a beginning is sorted by it is compared with, too.
        let may_join = beginning.is_some() || !source.is_among();
        let (mut select, mut translator) =
            self.sets.select_page(self.ctx, source, query, may_join)?;
        let terms = Terms::new(&translator, &query.order())?;
        translator.end_joining();
        translator.put_joins(&mut select);
        let found_by = found_by(translator.current.served, query);
        translator.current.holds = found_by.map(|(column, _)| column);
        let (mut layout, from) = Layout::of_query(&mut select, &translator, query)?;
        let marks = terms.select(&mut select, &translator, &mut layout);
        terms.sort(&mut select);
        let after = reached.or(self.request.after);
        if let Some(position) = after {
            select.cond_where(terms.after(&position.marks)?);
        } else if self.request.skip > 0 {
            // More than a database counts to.
            select.offset(self.request.skip.min(i64::MAX.unsigned_abs()));
        }
        if let Some(beginning) = beginning.filter(|beginning| !beginning.end.is_empty()) {
            select.cond_where(terms.after(&beginning.end)?.not());
        }
        let database = self.ctx.database();
        let is_planned_alike =
            after.is_none() && self.is_planned_alike(source, &translator, &layout);
        let statement = if is_planned_alike {
            database.build_first(&mut select, limit)
        } else {
            database.build(select.limit(limit))
        };
        Ok((statement, PagePlan::Entities { layout: Box::new(layout), marks, from }))
    }

    /// Whether a first page may be planned alike for everybody: nothing that a person has written says which rows it has. Only
    /// the SQL of virtual properties takes so long to plan that it counts.
    fn is_planned_alike(
        &self,
        source: &Source,
        translator: &Translator<'_>,
        layout: &Layout<'_>,
    ) -> bool {
        let query = self.request.query;
        let entity = &translator.current.served.entity;
        translator.current.has_virtual(layout.columns())
            && self.request.skip == 0
            && query.apply.is_none()
            && query.compute.is_empty()
            && query.search.is_none()
            && !query.filter.as_ref().is_some_and(has_values)
            && source.has_only_keys()
            && entity.row_filter(self.ctx.viewer()).is_none()
    }
}

/// Whether a condition compares with values other than yes and no.
fn has_values(condition: &BoundExpr) -> bool {
    match &condition.kind {
        BoundKind::Property(_) | BoundKind::Value(Literal::Boolean(_)) => false,
        BoundKind::Not(one) => has_values(one),
        BoundKind::And(all) | BoundKind::Or(all) => all.iter().any(has_values),
        BoundKind::Compare(_, one, other) => has_values(one) || has_values(other),
        _ => true,
    }
}
