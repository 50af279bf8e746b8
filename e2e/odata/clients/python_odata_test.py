"""The PyPI package `python-odata`: classes made from `$metadata`, queries built from them."""

import datetime
import os
import unittest
import uuid
from decimal import Decimal

import requests
from odata import ODataService
from odata.exceptions import ODataError
from odata.flags import ODataServerFlags

ROOT = os.environ["SVC_ODATA_ROOT"]
DIFFICULT = "Müller's \"Größe\" & Söhne 100% + 50/50? #1 \\ 日本 😀"


def connect(key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {os.environ[key]}"
    # What is null needn't be sent: the service knows its defaults.
    flags = ODataServerFlags(skip_null_properties=True)
    return ODataService(
        ROOT, session=session, reflect_entities=True, quiet_progress=True, server_flags=flags
    )


service = connect("SVC_ADMIN_KEY")
Product = service.entities["Products"]
Category = service.entities["Categories"]
Order = service.entities["Orders"]
OrderLine = service.entities["OrderLines"]


def category():
    """A category that has products; from its set, so that it has an address to be bound by."""
    product = service.query(Product).order_by(Product.sku.asc()).first()
    return service.query(Category).get(product.categoryId)


def new_product(**values):
    product = Product()
    product.sku = f"PY-{uuid.uuid4().hex[:12]}"
    product.name = "Folding rule"
    product.unit = "piece"
    product.price = Decimal("12.50")
    product.category = category()
    for name, value in values.items():
        setattr(product, name, value)
    return product


class PythonOData(unittest.TestCase):
    def refused(self, status, call):
        with self.assertRaises(ODataError) as caught:
            call()
        self.assertIn(str(status), str(caught.exception.status_code))
        self.assertTrue(caught.exception.message)
        return caught.exception

    def test_the_metadata_becomes_classes(self):
        self.assertLessEqual(
            {"Categories", "Suppliers", "Products", "Customers", "Orders", "OrderLines"},
            set(service.entities),
        )
        schema = {each["name"]: each for each in Product.__odata_schema__["properties"]}
        self.assertEqual(schema["price"]["type"], "Edm.Decimal")
        self.assertTrue(schema["id"]["is_primary_key"])
        navigation = {each["name"] for each in Product.__odata_schema__["navigation_properties"]}
        self.assertEqual(navigation, {"category", "supplier", "orderLines"})

    def test_a_list_with_filter_order_limit_and_offset(self):
        wanted = (Product.price > Decimal("10.5")) & (Product.stock >= 1)
        query = service.query(Product).filter(wanted).filter(Product.name.contains("saw"))
        everything = query.order_by(Product.price.desc(), Product.sku.asc()).all()
        self.assertGreater(len(everything), 1)
        prices = [product.price for product in everything]
        self.assertEqual(prices, sorted(prices, reverse=True))
        self.assertIsInstance(prices[0], Decimal)
        some = query.order_by(Product.price.desc(), Product.sku.asc()).offset(1).limit(1).all()
        self.assertEqual([product.id for product in some], [everything[1].id])
        self.assertEqual(query.count(), len(everything))

    def test_select_returns_nothing_else(self):
        rows = service.query(Product).select(Product.sku, Product.price).limit(2).all()
        for row in rows:
            self.assertEqual({n for n in row if not n.startswith("@")}, {"sku", "price"})

    def test_expand_and_lazy_navigation_lead_to_the_same(self):
        expanded = service.query(Product).expand(Product.category, Product.orderLines).first()
        lazy = service.query(Product).get(expanded.id)
        self.assertEqual(expanded.category.id, lazy.category.id)
        self.assertEqual(expanded.category.name, lazy.category.name)
        lines = sorted(line.id for line in expanded.orderLines)
        self.assertEqual(lines, sorted(line.id for line in lazy.orderLines))

    def test_filter_through_navigation(self):
        city = service.query(service.entities["Suppliers"]).first().city
        query = service.query(Product).filter(Product.supplier.city == city)
        found = query.expand(Product.supplier).all()
        self.assertTrue(found)
        self.assertEqual({product.supplier.city for product in found}, {city})

    def test_next_links_lead_through_all_rows(self):
        rows = service.query(OrderLine).order_by(OrderLine.quantity.asc()).all()
        self.assertEqual(len({row.id for row in rows}), len(rows))
        self.assertEqual(len(rows), service.query(OrderLine).count())
        self.assertGreater(len(rows), 1000)

    def test_apply(self):
        totals = service.query(Order).raw(
            {"$apply": "groupby((status),aggregate(total with sum as total,$count as orders))"}
        )
        self.assertLessEqual({"placed", "shipped"}, {row["status"] for row in totals})
        self.assertEqual(sum(row["orders"] for row in totals), service.query(Order).count())

    def test_create_read_change_delete(self):
        product = new_product(name=DIFFICULT, price=Decimal("0.10"), stock=7)
        service.save(product)
        self.assertTrue(uuid.UUID(product.id))
        self.assertEqual(product.price, Decimal("0.1"))
        self.assertIs(product.discontinued, False)
        self.assertIsNotNone(product.createdAt.tzinfo)
        read = service.query(Product).filter(Product.name == DIFFICULT).one()
        self.assertEqual(read.id, product.id)
        read.price = Decimal("1234567890.12")
        read.region = "Größe"
        service.save(read)
        again = service.query(Product).get(product.id)
        self.assertEqual(again.price, Decimal("1234567890.12"))
        self.assertEqual((again.name, again.region, again.stock), (DIFFICULT, "Größe", 7))
        service.delete(again)
        self.assertEqual(service.query(Product).filter(Product.id == product.id).count(), 0)

    def test_dates_are_moments(self):
        last = service.query(Order).order_by(Order.orderedAt.desc()).first()
        self.assertIsInstance(last.orderedAt, datetime.datetime)
        shifted = last.orderedAt.astimezone(datetime.timezone(datetime.timedelta(hours=5)))
        found = service.query(Order).filter(Order.orderedAt >= shifted).all()
        self.assertIn(last.id, [order.id for order in found])

    def test_refusals_say_what_is_wrong(self):
        wrong = self.refused(400, lambda: service.query(Product).raw({"$filter": "prize gt 1"}))
        self.assertIn("prize", wrong.message)
        invalid = self.refused(422, lambda: service.save(new_product(name="x" * 101)))
        self.assertIn("`name`", invalid.message)
        self.assertIn("100", invalid.message)
        missing = service.query(Product).first()
        missing.__odata__["id"] = str(uuid.uuid4())
        self.refused(404, lambda: service.delete(missing))

    def test_what_a_person_may_not_see_is_not_there(self):
        theirs = connect("SVC_CLERK_KEY")
        self.assertEqual(set(theirs.entities), {"Products", "Categories"})
        seen = theirs.entities["Products"]
        self.assertFalse(hasattr(seen, "costPrice"))
        self.assertFalse(hasattr(seen, "supplier"))
        product = theirs.query(seen).first()
        refusal = self.refused(403, lambda: theirs.delete(product))
        self.assertIn("Products.Delete", refusal.message)
        self.refused(400, lambda: theirs.query(seen).raw({"$orderby": "costPrice"}))


if __name__ == "__main__":
    unittest.main()
