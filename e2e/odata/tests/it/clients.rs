//! Each client plays a day's work: lists, pages, changes, batches, refusals.

use e2e_odata::{Program, Shop, node_test, script};
use svc_testing::on_both_databases;

on_both_databases! {
    async fn the_clients_for_javascript_work(backend) {
        let shop = Shop::start(backend).await;
        node_test("o.test.mjs", &shop);
        node_test("client.test.mjs", &shop);
        node_test("query.test.mjs", &shop);
    }

    async fn the_client_for_python_works(backend) {
        let shop = Shop::start(backend).await;
        let text = script(Program::Python, &["-m", "unittest", "python_odata_test"], &shop);
        assert!(text.contains("OK") && !text.contains("Ran 0 tests"), "{text}");
    }
}
