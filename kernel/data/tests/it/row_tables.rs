use svc_database::{Cell, CellKind, ROWS_AT_ONCE, RowTable};
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::Fixture;

const COLUMNS: [(&str, CellKind); 4] = [
    ("id", CellKind::Uuid),
    ("small", CellKind::SmallInt),
    ("big", CellKind::BigInt),
    ("text", CellKind::Text),
];

type Row = (Uuid, Option<i16>, Option<i64>, Option<String>);

/// Asks the database for rows as it got them.
async fn there_and_back(fixture: &Fixture, rows: &[Row]) -> Vec<Row> {
    let cells = |(id, small, big, text): &Row| -> [Cell<'static>; 4] {
        [(*id).into(), (*small).into(), (*big).into(), text.clone().into()]
    };
    let table = RowTable::new(fixture.database.backend(), &COLUMNS, rows.iter().map(cells));
    let sql = format!("SELECT r.id, r.small, r.big, r.text FROM {} ORDER BY r.id", table.sql);
    let found =
        fixture.database.rows(fixture.database.statement(&sql, table.values)).await.unwrap();
    let read = |row: &sea_orm::QueryResult| -> Result<Row, sea_orm::DbErr> {
        Ok((
            row.try_get_by_index(0)?,
            row.try_get_by_index(1)?,
            row.try_get_by_index(2)?,
            row.try_get_by_index(3)?,
        ))
    };
    found.iter().map(|row| read(row).unwrap()).collect()
}

on_both_databases! {
    async fn rows_come_through_as_they_are(backend) {
        let fixture = Fixture::start(backend).await;
        let texts = [
            "", "NULL", "null", " ", "a,b", "{a}", "\"", "\\", "\\\"", "it's", "?", "$1", "\n\r\t", "ä€𝄞",
            "\u{1}\u{7f}\u{feff}",
        ];
        let row = |(number, text): (usize, &&str)| -> Row {
            let id = Uuid::from_u128(u128::try_from(number).unwrap());
            (id, Some(i16::MIN), Some(i64::MAX), Some((*text).to_owned()))
        };
        let mut rows: Vec<Row> = texts.iter().enumerate().map(row).collect();
        rows.push((Uuid::max(), None, None, None));
        assert_eq!(there_and_back(&fixture, &rows).await, rows);
        assert_eq!(there_and_back(&fixture, &[]).await, []);
        let most: Vec<Row> = (0..ROWS_AT_ONCE)
            .map(|number| (Uuid::from_u128(u128::try_from(number).unwrap()), None, Some(1), None))
            .collect();
        assert_eq!(there_and_back(&fixture, &most).await, most);
    }
}
