//! What the sample wholesaler sells and where it buys: tools, building supplies, garden.

/// When in the year a range sells best.
#[derive(Clone, Copy)]
pub(super) enum Season {
    Even,
    Spring,
    Summer,
    Autumn,
    Winter,
}

impl Season {
    /// How well a range sells in a month from 1 to 12, in percent of an ordinary one.
    pub(super) fn demand(self, month: u8) -> i32 {
        let best: [u8; 4] = match self {
            Season::Even => return 100,
            Season::Spring => [3, 4, 5, 6],
            Season::Summer => [5, 6, 7, 8],
            Season::Autumn => [8, 9, 10, 11],
            Season::Winter => [10, 11, 12, 1],
        };
        if best.contains(&month) { 220 } else { 40 }
    }
}

pub(super) struct Supplier {
    pub(super) name: &'static str,
    pub(super) contact: &'static str,
    pub(super) city: &'static str,
    pub(super) country: &'static str,
    pub(super) lead_time_days: i32,
}

pub(super) struct Range {
    pub(super) category: &'static str,
    pub(super) description: &'static str,
    pub(super) season: Season,
    /// Who makes it: places in [`SUPPLIERS`], taken in turns.
    pub(super) suppliers: &'static [usize],
    pub(super) articles: &'static [Article],
}

/// Number, name, unit, net price in cents, description.
pub(super) type Article = (&'static str, &'static str, &'static str, i32, &'static str);

const fn supplier(
    name: &'static str,
    contact: &'static str,
    city: &'static str,
    country: &'static str,
    lead_time_days: i32,
) -> Supplier {
    Supplier { name, contact, city, country, lead_time_days }
}

pub(super) const SUPPLIERS: [Supplier; 16] = [
    supplier("Bergland Werkzeuge GmbH", "Katrin Seibold", "Remscheid", "DE", 6),
    supplier("Forja del Norte S.A.", "Iker Mendizabal", "Eibar", "ES", 12),
    supplier("Voltara Power Tools B.V.", "Sanne Kuiper", "Eindhoven", "NL", 9),
    supplier("Schraubenwerk Lüdenscheid KG", "Uwe Hagemann", "Lüdenscheid", "DE", 5),
    supplier("Kemivar AB", "Linnea Forsgren", "Göteborg", "SE", 10),
    supplier("Lumen & Söhne Leuchten GmbH", "Peter Aumann", "Arnsberg", "DE", 8),
    supplier("Elettrica Valsabbia S.r.l.", "Marco Tonini", "Brescia", "IT", 11),
    supplier("Aquatherma Armaturen AG", "Reto Zgraggen", "Winterthur", "CH", 9),
    supplier("Jardinia France SAS", "Hélène Besson", "Angers", "FR", 10),
    supplier("Nordsalz Handels GmbH", "Henning Brarens", "Stade", "DE", 4),
    supplier("Sikkerhed Danmark A/S", "Mette Overgaard", "Horsens", "DK", 7),
    supplier("Stalmet Regały Sp. z o.o.", "Tomasz Wilczek", "Gliwice", "PL", 14),
    supplier("Propria Cleaning Products Ltd", "Fiona Hartnell", "Stockport", "GB", 13),
    supplier("Klimaq Heiztechnik GmbH", "Andreas Obermoser", "Wels", "AT", 8),
    supplier("Ribeira Colas e Selantes Lda", "Joana Teixeira", "Aveiro", "PT", 15),
    supplier("Van Houtrijve Houtproducten N.V.", "Bart Claes", "Kortrijk", "BE", 7),
];

/// The articles that are sold in one region only: plugs and pipe threads differ.
pub(super) const REGIONAL: [(&str, &str); 6] = [
    ("EL-105", "UK & Ireland"),
    ("EL-106", "Continent"),
    ("PB-105", "UK & Ireland"),
    ("PB-106", "Continent"),
    ("WI-104", "Alps"),
    ("GA-106", "Continent"),
];

/// The articles that are no longer bought.
pub(super) const DISCONTINUED: [&str; 3] = ["PT-106", "LI-106", "CL-106"];

pub(super) const RANGES: [Range; 14] = [
    Range {
        category: "Hand tools",
        description: "For everything that is done without a plug.",
        season: Season::Even,
        suppliers: &[0, 1],
        articles: &[
            ("HT-101", "Claw hammer 450 g", "piece", 1_490, "Forged head, ash handle."),
            ("HT-102", "Screwdriver set, 6 pieces", "set", 1_890, "Slotted and PH, magnetic tips."),
            (
                "HT-103",
                "Combination pliers 180 mm",
                "piece",
                1_650,
                "Hardened edges, two-part grip.",
            ),
            ("HT-104", "Spirit level 80 cm", "piece", 2_290, "Aluminium, three vials, 0.5 mm/m."),
            ("HT-105", "Tape measure 5 m", "piece", 690, "Class II, 25 mm blade, with lock."),
            ("HT-106", "Handsaw 500 mm", "piece", 1_990, "Hardened teeth, 7 TPI, for wood."),
            ("HT-107", "Utility knife 18 mm", "piece", 590, "With three snap-off blades."),
        ],
    },
    Range {
        category: "Power tools",
        description: "Corded and cordless machines for the trade.",
        season: Season::Even,
        suppliers: &[2],
        articles: &[
            ("PT-101", "Cordless drill 18 V", "piece", 12_900, "60 Nm, two 4 Ah batteries, case."),
            ("PT-102", "Angle grinder 125 mm", "piece", 7_990, "1,100 W, restart protection."),
            ("PT-103", "Jigsaw 650 W", "piece", 9_490, "Four pendulum settings, 80 mm in wood."),
            ("PT-104", "Rotary hammer SDS-plus", "piece", 15_900, "800 W, 2.7 J, with depth stop."),
            ("PT-105", "Orbital sander 150 mm", "piece", 8_990, "Dust bag, 5 mm orbit."),
            ("PT-106", "Cordless screwdriver 3.6 V", "piece", 3_990, "USB charging, ten bits."),
        ],
    },
    Range {
        category: "Fasteners",
        description: "Screws, anchors and nails by the box.",
        season: Season::Even,
        suppliers: &[3],
        articles: &[
            (
                "FA-101",
                "Wood screws 4 × 40 mm",
                "box of 500",
                1_290,
                "Countersunk, TX20, zinc-plated.",
            ),
            (
                "FA-102",
                "Wood screws 6 × 120 mm",
                "box of 100",
                1_790,
                "Countersunk, TX30, zinc-plated.",
            ),
            (
                "FA-103",
                "Drywall screws 3.5 × 35 mm",
                "box of 1000",
                1_190,
                "Phosphated, fine thread.",
            ),
            (
                "FA-104",
                "Nylon wall plugs 8 mm",
                "box of 100",
                490,
                "For solid and perforated brick.",
            ),
            ("FA-105", "Hexagon bolts M10 × 80", "box of 50", 2_150, "Strength 8.8, with nuts."),
            (
                "FA-106",
                "Round wire nails 2.8 × 65",
                "box of 2.5 kg",
                990,
                "Bright, chequered head.",
            ),
            ("FA-107", "Heavy-duty anchors M12", "box of 20", 3_490, "For cracked concrete."),
        ],
    },
    Range {
        category: "Paint and varnish",
        description: "For walls, wood and metal, inside and out.",
        season: Season::Spring,
        suppliers: &[4],
        articles: &[
            (
                "PV-101",
                "Interior wall paint, white",
                "bucket of 10 l",
                3_990,
                "Covers in one coat, class 1.",
            ),
            (
                "PV-102",
                "Façade paint, white",
                "bucket of 12.5 l",
                7_490,
                "Silicone resin, breathable.",
            ),
            (
                "PV-103",
                "Wood stain, walnut",
                "can of 2.5 l",
                3_290,
                "UV protection, for four years.",
            ),
            ("PV-104", "Metal primer, grey", "can of 0.75 l", 1_490, "Against rust, quick drying."),
            ("PV-105", "Paint roller set", "set", 1_190, "Tray, frame and two rollers."),
            ("PV-106", "Masking tape 38 mm × 50 m", "roll", 320, "Comes off clean for 14 days."),
        ],
    },
    Range {
        category: "Adhesives and sealants",
        description: "What holds and what keeps water out.",
        season: Season::Even,
        suppliers: &[14, 4],
        articles: &[
            ("AS-101", "Sanitary silicone, white", "cartridge", 540, "310 ml, resists mould."),
            ("AS-102", "Construction adhesive", "cartridge", 690, "290 ml, indoors and outdoors."),
            ("AS-103", "Acrylic sealant, white", "cartridge", 320, "310 ml, can be painted over."),
            (
                "AS-104",
                "Wood glue D3",
                "bottle of 750 g",
                890,
                "Water resistant, sets in 15 minutes.",
            ),
            ("AS-105", "Polyurethane foam", "can of 750 ml", 790, "For gun and tube."),
        ],
    },
    Range {
        category: "Electrical",
        description: "Cables, sockets and what belongs to them.",
        season: Season::Even,
        suppliers: &[6],
        articles: &[
            ("EL-101", "Installation cable 3 × 1.5 mm²", "ring of 100 m", 6_890, "NYM-J, grey."),
            ("EL-102", "Installation cable 5 × 2.5 mm²", "ring of 50 m", 9_990, "NYM-J, grey."),
            ("EL-103", "Cable reel 40 m", "piece", 6_490, "Rubber, IP44, thermal cut-out."),
            ("EL-104", "Cable ties 200 × 3.6 mm", "bag of 100", 290, "UV-resistant, black."),
            ("EL-105", "Extension lead, type G", "piece", 1_590, "4 sockets, 5 m, fused."),
            ("EL-106", "Extension lead, type F", "piece", 1_390, "4 sockets, 5 m, with switch."),
        ],
    },
    Range {
        category: "Lighting",
        description: "Light for workplaces, gardens and halls.",
        season: Season::Autumn,
        suppliers: &[5],
        articles: &[
            ("LI-101", "LED work light 50 W", "piece", 4_490, "6,000 lm, IP65, with stand."),
            ("LI-102", "LED bulb E27 9 W", "box of 10", 2_290, "806 lm, warm white."),
            ("LI-103", "LED panel 60 × 60 cm", "piece", 4_990, "36 W, 4,000 K, UGR below 19."),
            ("LI-104", "Head torch", "piece", 2_190, "400 lm, rechargeable, IPX4."),
            ("LI-105", "Moisture-proof luminaire 120 cm", "piece", 3_690, "36 W, IP65."),
            ("LI-106", "Halogen floodlight 400 W", "piece", 1_990, "R7s, with bracket."),
        ],
    },
    Range {
        category: "Plumbing",
        description: "Pipes, valves and taps.",
        season: Season::Even,
        suppliers: &[7],
        articles: &[
            ("PB-101", "Basin mixer tap", "piece", 6_990, "Chrome, ceramic cartridge."),
            (
                "PB-102",
                "Multilayer pipe 16 mm",
                "ring of 50 m",
                5_990,
                "For drinking water and heating.",
            ),
            ("PB-103", "Ball valve ½″", "piece", 890, "Brass, full bore."),
            ("PB-104", "Flexible hose 50 cm", "piece", 490, "Steel braid, ⅜″ to ½″."),
            ("PB-105", "Compression coupler 15 mm", "bag of 10", 1_490, "Brass, to BS EN 1254."),
            ("PB-106", "Press coupler 16 mm", "bag of 10", 3_890, "Contour TH."),
        ],
    },
    Range {
        category: "Heating and ventilation",
        description: "Warm in winter, fresh air all year.",
        season: Season::Winter,
        suppliers: &[13],
        articles: &[
            ("HV-101", "Fan heater 3 kW", "piece", 8_490, "For building sites, IPX4."),
            ("HV-102", "Oil-filled radiator 2 kW", "piece", 7_490, "Nine ribs, thermostat."),
            ("HV-103", "Bathroom fan 100 mm", "piece", 3_290, "With run-on timer, 26 dB."),
            ("HV-104", "Radiator thermostat head", "piece", 1_690, "M30 × 1.5, frost protection."),
            ("HV-105", "Pipe insulation 22 mm", "bundle of 20 m", 2_490, "13 mm, self-sealing."),
        ],
    },
    Range {
        category: "Garden",
        description: "Tools and watering for the growing months.",
        season: Season::Spring,
        suppliers: &[8],
        articles: &[
            ("GA-101", "Garden hose ½″, 25 m", "piece", 2_790, "Braided, resists kinks."),
            ("GA-102", "Spade, pointed", "piece", 2_490, "Tempered steel, D handle."),
            ("GA-103", "Bypass secateurs", "piece", 2_190, "Cuts up to 22 mm."),
            ("GA-104", "Wheelbarrow 100 l", "piece", 8_990, "Galvanised tray, pneumatic wheel."),
            ("GA-105", "Potting compost", "bag of 45 l", 890, "Without peat."),
            ("GA-106", "Submersible pump 400 W", "piece", 6_490, "7,500 l/h, clean water."),
        ],
    },
    Range {
        category: "Outdoor living",
        description: "For terraces, beer gardens and hot days.",
        season: Season::Summer,
        suppliers: &[15, 8],
        articles: &[
            ("OL-101", "Folding bench set", "set", 13_900, "Table and two benches, 220 cm."),
            ("OL-102", "Parasol 3 m", "piece", 9_990, "Crank, UPF 50+, without base."),
            ("OL-103", "Pedestal fan 45 cm", "piece", 5_490, "Three speeds, oscillates."),
            ("OL-104", "Charcoal, restaurant grade", "bag of 10 kg", 1_590, "Large lumps, FSC."),
            ("OL-105", "Decking board, larch, 4 m", "piece", 2_990, "27 × 143 mm, grooved."),
        ],
    },
    Range {
        category: "Winter goods",
        description: "Against ice and snow.",
        season: Season::Winter,
        suppliers: &[9],
        articles: &[
            ("WI-101", "De-icing salt", "bag of 25 kg", 990, "Works down to −10 °C."),
            ("WI-102", "Snow shovel 50 cm", "piece", 1_990, "Plastic blade, steel edge."),
            ("WI-103", "Grit 2–5 mm", "bag of 20 kg", 590, "Washed, free of salt."),
            ("WI-104", "Snow pusher 80 cm", "piece", 5_990, "Steel, on runners."),
            ("WI-105", "Windscreen de-icer", "canister of 5 l", 1_490, "Works down to −30 °C."),
        ],
    },
    Range {
        category: "Safety and workwear",
        description: "What protects people at work.",
        season: Season::Even,
        suppliers: &[10],
        articles: &[
            ("SW-101", "Safety shoes S3", "pair", 6_990, "Composite toe cap, sizes 36 to 48."),
            ("SW-102", "Work gloves, nitrile", "pack of 12", 1_990, "EN 388, sizes 7 to 11."),
            ("SW-103", "Safety glasses, clear", "piece", 690, "EN 166, anti-fog."),
            ("SW-104", "Hard hat", "piece", 1_290, "EN 397, six-point harness."),
            ("SW-105", "High-visibility vest", "piece", 490, "Class 2, yellow."),
            ("SW-106", "Ear defenders", "piece", 1_790, "SNR 30 dB, foldable."),
            ("SW-107", "Respirator FFP2", "box of 20", 2_490, "With valve, NR D."),
        ],
    },
    Range {
        category: "Cleaning and storage",
        description: "Keeps the workshop in order.",
        season: Season::Even,
        suppliers: &[12, 11],
        articles: &[
            (
                "CL-101",
                "All-purpose cleaner",
                "canister of 10 l",
                2_190,
                "Concentrate, pH neutral.",
            ),
            (
                "CL-102",
                "Boltless shelving 180 × 90 cm",
                "piece",
                5_490,
                "Five shelves, 175 kg each.",
            ),
            ("CL-103", "Cleaning cloths", "roll of 1000", 2_990, "Three-ply, blue."),
            ("CL-104", "Stacking box 400 × 300 mm", "piece", 890, "Polypropylene, 20 l."),
            (
                "CL-105",
                "Hand cleaning paste",
                "tub of 10 l",
                2_790,
                "With wood flour, for oil and grease.",
            ),
            ("CL-106", "Wet and dry vacuum 30 l", "piece", 12_900, "1,400 W, socket for tools."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reference_of_the_tables_leads_somewhere() {
        let articles: Vec<&str> =
            RANGES.iter().flat_map(|range| range.articles).map(|article| article.0).collect();
        let unique: BTreeSet<&str> = articles.iter().copied().collect();
        assert_eq!(unique.len(), articles.len());
        assert!(REGIONAL.iter().all(|(sku, _)| unique.contains(sku)));
        assert!(DISCONTINUED.iter().all(|sku| unique.contains(sku)));
        let used: BTreeSet<usize> =
            RANGES.iter().flat_map(|range| range.suppliers.iter().copied()).collect();
        assert_eq!(used, (0..SUPPLIERS.len()).collect());
    }
}
