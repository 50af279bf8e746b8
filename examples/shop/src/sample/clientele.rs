//! Who buys from the sample wholesaler: shops, builders and caretakers, all of them invented.

/// The customers of a country.
pub(super) struct Country {
    /// Its two letters.
    pub(super) code: &'static str,
    /// What a telephone number there begins with.
    pub(super) dial: &'static str,
    /// Name and city.
    pub(super) customers: &'static [(&'static str, &'static str)],
}

pub(super) const COUNTRIES: [Country; 14] = [
    Country {
        code: "DE",
        dial: "+49",
        customers: &[
            ("Eisenwaren Krüger GmbH", "Hamburg"),
            ("Baustoffe Wendland KG", "Lüneburg"),
            ("Hausmeisterservice Brandt", "Berlin"),
            ("Malerbetrieb Sonnleitner", "München"),
            ("Elektro Petersen GmbH", "Flensburg"),
            ("Raiffeisen-Markt Soest eG", "Soest"),
            ("Dachbau Hohmann GmbH", "Kassel"),
            ("Gartencenter Lindenhof", "Münster"),
            ("Schreinerei Aigner", "Regensburg"),
            ("Stadtwerke Elbtal GmbH", "Dresden"),
            ("Hotel Seeblick Betriebs GmbH", "Rostock"),
            ("Sanitär Yıldız GmbH", "Köln"),
            ("Werkzeug-Eck Vogel", "Stuttgart"),
            ("Bauhof Gemeinde Altenried", "Freiburg"),
            ("Trockenbau Nowak & Sohn", "Leipzig"),
            ("Hafenbedarf Janssen", "Bremen"),
            ("Immobilienpflege Rhein-Main", "Frankfurt am Main"),
            ("Landmaschinen Oberhuber", "Passau"),
        ],
    },
    Country {
        code: "AT",
        dial: "+43",
        customers: &[
            ("Eisen Wagner Handels GmbH", "Linz"),
            ("Bergbahnen Hochalm AG", "Zell am See"),
            ("Installationen Gruber", "Graz"),
            ("Lagerhaus Weinviertel", "Mistelbach"),
            ("Tischlerei Moser", "Innsbruck"),
            ("Haus & Garten Pichler", "Wien"),
        ],
    },
    Country {
        code: "CH",
        dial: "+41",
        customers: &[
            ("Eisenwaren Bühler AG", "Bern"),
            ("Gebäudeservice Limmat AG", "Zürich"),
            ("Quincaillerie du Léman SA", "Lausanne"),
            ("Malergeschäft Caduff", "Chur"),
            ("Ferramenta Ticinese SA", "Lugano"),
        ],
    },
    Country {
        code: "NL",
        dial: "+31",
        customers: &[
            ("IJzerhandel De Vries B.V.", "Utrecht"),
            ("Bouwmarkt Zeeland B.V.", "Middelburg"),
            ("Schildersbedrijf Jansen", "Groningen"),
            ("Tuincentrum De Linde", "Apeldoorn"),
            ("Installatietechniek Bakker", "Rotterdam"),
            ("Scheepswerf Noordzee B.V.", "Den Helder"),
            ("Vastgoedbeheer Amstel", "Amsterdam"),
        ],
    },
    Country {
        code: "BE",
        dial: "+32",
        customers: &[
            ("Bouwmaterialen Peeters", "Antwerpen"),
            ("Quincaillerie Lambert SPRL", "Liège"),
            ("Dakwerken Maes", "Gent"),
            ("Jardinerie des Ardennes", "Namur"),
        ],
    },
    Country {
        code: "FR",
        dial: "+33",
        customers: &[
            ("Quincaillerie Moreau", "Lyon"),
            ("Bricolage du Port SARL", "Marseille"),
            ("Peintures Lefèvre", "Lille"),
            ("Jardinerie de la Loire", "Tours"),
            ("Électricité Garnier SAS", "Nantes"),
            ("Menuiserie Rousseau", "Rennes"),
            ("Chauffage Vosgien SARL", "Épinal"),
            ("Domaine Saint-Aubin", "Bordeaux"),
            ("Mairie de Valmont-sur-Isère", "Grenoble"),
        ],
    },
    Country {
        code: "IT",
        dial: "+39",
        customers: &[
            ("Ferramenta Rossi S.r.l.", "Torino"),
            ("Edilizia Bianchi S.p.A.", "Milano"),
            ("Colorificio Marchetti", "Verona"),
            ("Idraulica Colombo", "Bergamo"),
            ("Hotel Miramonti", "Bolzano"),
            ("Agraria San Vito", "Udine"),
            ("Cantieri Navali Ferrante", "La Spezia"),
        ],
    },
    Country {
        code: "ES",
        dial: "+34",
        customers: &[
            ("Ferretería García S.L.", "Zaragoza"),
            ("Suministros Industriales Vega", "Bilbao"),
            ("Pinturas Levante S.L.", "Valencia"),
            ("Jardines del Retiro", "Madrid"),
            ("Construcciones Ibáñez", "Pamplona"),
        ],
    },
    Country {
        code: "PT",
        dial: "+351",
        customers: &[
            ("Ferragens Silva Lda", "Porto"),
            ("Construções Almeida Lda", "Coimbra"),
            ("Quinta do Vale Verde", "Évora"),
        ],
    },
    Country {
        code: "GB",
        dial: "+44",
        customers: &[
            ("Ashworth Builders' Merchants Ltd", "Leeds"),
            ("Pennine Hardware Ltd", "Huddersfield"),
            ("Thistle Property Care", "Edinburgh"),
            ("Marlowe Electrical Supplies", "Bristol"),
            ("Greenacre Garden Centre", "Norwich"),
            ("Harbourside Decorators Ltd", "Plymouth"),
            ("Caledonia Roofing Ltd", "Aberdeen"),
            ("Brecon Farm Supplies", "Brecon"),
        ],
    },
    Country {
        code: "IE",
        dial: "+353",
        customers: &[
            ("Murphy Hardware Ltd", "Cork"),
            ("Liffey Plumbing & Heating", "Dublin"),
            ("Connemara Agri Stores", "Galway"),
        ],
    },
    Country {
        code: "DK",
        dial: "+45",
        customers: &[
            ("Jensens Byggemarked A/S", "Aarhus"),
            ("Malerfirmaet Østergaard", "Odense"),
            ("VVS Nordjylland ApS", "Aalborg"),
            ("Havnens Værktøj", "Esbjerg"),
            ("Boligforeningen Solvang", "København"),
        ],
    },
    Country {
        code: "SE",
        dial: "+46",
        customers: &[
            ("Lindqvist Järn AB", "Uppsala"),
            ("Bygghandeln i Småland", "Växjö"),
            ("Skärgårdens Måleri", "Norrtälje"),
            ("Fastighetsskötsel Mälardalen", "Västerås"),
        ],
    },
    Country {
        code: "PL",
        dial: "+48",
        customers: &[
            ("Hurtownia Budowlana Nowak", "Poznań"),
            ("Narzędzia Kowalczyk", "Kraków"),
            ("Instalacje Zieliński Sp. z o.o.", "Wrocław"),
            ("Ogrody Mazowsza", "Warszawa"),
            ("Stolarnia Wiśniewski", "Gdańsk"),
            ("Dom i Ogród Lublin Sp. z o.o.", "Lublin"),
            ("Elektro-Hurt Śląsk", "Katowice"),
            ("Farby Pomorze", "Szczecin"),
            ("Administracja Osiedla Zacisze", "Łódź"),
            ("Stocznia Remontowa Bałtyk", "Gdynia"),
        ],
    },
];

/// A mail address for a name, in the domain that is kept for examples (RFC 2606).
pub(super) fn email(mailbox: &str, name: &str) -> String {
    let mut domain = String::with_capacity(name.len());
    for letter in name.to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' => domain.push(letter),
            ' ' | '-' | '.' | '&' if !domain.ends_with('-') => domain.push('-'),
            'ä' | 'æ' => domain.push_str("ae"),
            'ö' | 'ø' => domain.push_str("oe"),
            'ü' => domain.push_str("ue"),
            'á' | 'å' | 'ą' => domain.push('a'),
            'ç' => domain.push('c'),
            'é' | 'è' | 'ę' => domain.push('e'),
            'í' | 'ı' => domain.push('i'),
            'ł' => domain.push('l'),
            'ñ' | 'ń' => domain.push('n'),
            'õ' | 'ó' => domain.push('o'),
            'ś' => domain.push('s'),
            _ => {}
        }
    }
    format!("{mailbox}@{}.example", domain.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_made_of_what_a_domain_may_hold() {
        let cases = [
            ("Eisenwaren Krüger GmbH", "office@eisenwaren-krueger-gmbh.example"),
            ("Ashworth Builders' Merchants Ltd", "office@ashworth-builders-merchants-ltd.example"),
            ("Trockenbau Nowak & Sohn", "office@trockenbau-nowak-sohn.example"),
            ("Elektro-Hurt Śląsk", "office@elektro-hurt-slask.example"),
            ("Edilizia Bianchi S.p.A.", "office@edilizia-bianchi-s-p-a.example"),
        ];
        for (name, expected) in cases {
            assert_eq!(email("office", name), expected);
        }
    }
}
