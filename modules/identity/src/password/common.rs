//! Passwords that are tried first.
//!
//! Lists of stolen passwords hold many millions, and nothing of this application asks another machine.
//! What the lists have in common can be said in a few rules, as passwords of twelve characters and more
//! are nearly all made of a handful of parts: a well-known word, a name of something, a row of keys, a
//! year, or one of these again and again. A password is common when nothing is left of it beside such
//! parts.

/// Words that many passwords are made of, in lower case, the letters that stand in for others put back.
const WORDS: &[&str] = &[
    "abc",
    "abcd",
    "access",
    "admin",
    "administrator",
    "adobe",
    "amanda",
    "andrew",
    "angel",
    "anthony",
    "apple",
    "arsenal",
    "asdf",
    "ashley",
    "baby",
    "bailey",
    "banana",
    "barcelona",
    "baseball",
    "basketball",
    "batman",
    "benutzer",
    "berlin",
    "blink",
    "buster",
    "butterfly",
    "change",
    "changeme",
    "charlie",
    "cheese",
    "chelsea",
    "chocolate",
    "company",
    "computer",
    "cookie",
    "daniel",
    "default",
    "demo",
    "donald",
    "dragon",
    "einloggen",
    "facebook",
    "family",
    "firma",
    "flower",
    "football",
    "forever",
    "freedom",
    "friend",
    "friends",
    "fuck",
    "fussball",
    "geheim",
    "george",
    "ginger",
    "google",
    "guest",
    "hallo",
    "hamburg",
    "hannah",
    "hello",
    "herbst",
    "hockey",
    "hunter",
    "iloveyou",
    "internet",
    "jennifer",
    "jessica",
    "jesus",
    "jordan",
    "joshua",
    "justin",
    "kennwort",
    "killer",
    "lakers",
    "letmein",
    "liebe",
    "linkedin",
    "liverpool",
    "login",
    "london",
    "love",
    "lovely",
    "manchester",
    "marina",
    "martin",
    "master",
    "matrix",
    "matthew",
    "merlin",
    "michael",
    "michelle",
    "microsoft",
    "minecraft",
    "monkey",
    "mustang",
    "nicole",
    "nothing",
    "number",
    "office",
    "oliver",
    "password",
    "passwort",
    "pepper",
    "please",
    "pokemon",
    "princess",
    "qazwsx",
    "qwer",
    "qwert",
    "qwerty",
    "qwertz",
    "robert",
    "root",
    "samsung",
    "sandra",
    "schalke",
    "schatz",
    "secret",
    "secure",
    "security",
    "server",
    "shadow",
    "silver",
    "snoopy",
    "soccer",
    "sommer",
    "sonnenschein",
    "spring",
    "start",
    "starwars",
    "startrek",
    "summer",
    "sunshine",
    "super",
    "superman",
    "system",
    "tennis",
    "test",
    "tester",
    "testing",
    "thomas",
    "tigger",
    "trustno",
    "user",
    "welcome",
    "whatever",
    "william",
    "willkommen",
    "winter",
    "yankees",
    "yellow",
    "zugang",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "februar",
    "maerz",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "monday",
    "tuesday",
    "friday",
    "montag",
    "dienstag",
    "freitag",
    "the",
    "you",
    "and",
    "me",
    "my",
    "i",
    "is",
    "it",
    "in",
    "to",
    "123",
    "one",
    "two",
    "three",
    "new",
];

/// Rows of keys and of letters, each also backwards.
const ROWS: &[&str] = &[
    "01234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiopü",
    "asdfghjklöä",
    "yxcvbnm",
    "qazwsxedcrfvtgbyhnujm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "1q2w3e4r5t6z7u8i9o0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "147258369",
    "!@#$%^&*()",
    "!\"§$%&/()=",
];

/// Characters that may be left over of a common password.
const LEFT: usize = 3;

/// The shortest part of a row of keys that counts as one.
const RUN: usize = 4;

/// Whether a password is among those that are tried first.
pub(super) fn is_common(password: &str) -> bool {
    let text: Vec<char> = password.to_lowercase().chars().collect();
    let plain: Vec<char> = text.iter().copied().map(plain_letter).collect();
    let mut kinds = text.clone();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() <= 4
        || is_repeated(&text)
        || what_is_left(&text) <= LEFT
        || what_is_left(&plain) <= LEFT
}

/// Whether a password is made of the names and addresses of its person.
pub(super) fn is_personal(password: &str, personal: &[&str]) -> bool {
    let password = password.to_lowercase();
    let mut rest = password.clone();
    for name in personal.iter().map(|name| name.trim().to_lowercase()) {
        if !name.is_empty() && password == name {
            return true;
        }
        for part in name.split(|letter: char| !letter.is_alphanumeric()) {
            if part.chars().count() > 2 {
                rest = rest.replace(part, "");
            }
        }
    }
    let own = rest.chars().filter(|letter| letter.is_alphabetic()).count();
    rest.len() < password.len() && own <= LEFT
}

/// A letter for a digit or sign that is often written in its place.
fn plain_letter(letter: char) -> char {
    match letter {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        letter => letter,
    }
}

/// Whether a text is a part of it again and again.
fn is_repeated(text: &[char]) -> bool {
    (1..=text.len() / 2).any(|unit| text.iter().zip(&text[unit..]).all(|(one, next)| one == next))
}

/// How many letters are left when words, rows of keys, digits and signs are taken out.
fn what_is_left(text: &[char]) -> usize {
    let (mut place, mut left) = (0, 0);
    while place < text.len() {
        let known = longest_word(&text[place..]).max(longest_run(&text[place..]));
        match known {
            0 => {
                left += usize::from(text[place].is_alphabetic());
                place += 1;
            }
            known => place += known,
        }
    }
    left
}

fn longest_word(text: &[char]) -> usize {
    let begins = |word: &&&str| {
        word.chars().count() <= text.len()
            && word.chars().zip(text).all(|(one, other)| one == *other)
    };
    WORDS.iter().filter(begins).map(|word| word.chars().count()).max().unwrap_or(0)
}

fn longest_run(text: &[char]) -> usize {
    let mut longest = 0;
    for row in ROWS {
        let forwards: Vec<char> = row.chars().collect();
        let backwards: Vec<char> = row.chars().rev().collect();
        for row in [forwards, backwards] {
            for start in 0..row.len() {
                let same = row[start..].iter().zip(text).take_while(|(one, other)| one == other);
                longest = longest.max(same.count());
            }
        }
    }
    if longest < RUN { 0 } else { longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_first_is_refused() {
        for password in [
            "passwordpassword",
            "Password1234",
            "P@ssw0rd1234",
            "123456789012",
            "1234567890123456",
            "qwertyuiop12",
            "qwertzuiop123",
            "aaaaaaaaaaaa",
            "abcabcabcabc",
            "iloveyou1234",
            "Welcome2026!",
            "Sommer2026!!",
            "letmein12345",
            "adminadmin12",
            "1qaz2wsx3edc",
            "abcdefghijkl",
            "zyxwvutsrqpo",
            "changeme1234",
            "correctcorrect",
            "987654321098",
            "1q2w3e4r5t6z",
            "Passwort2026",
            "112233112233",
            "iloveyouforever",
        ] {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn what_somebody_thought_up_is_not() {
        for password in [
            "correct horse battery",
            "a ship in a harbour",
            "another ship at sea",
            "pässwörterich",
            "vier Elche auf dem Eis",
            "xK9#mQ2$vL7p",
            "blau-Pfirsich-Tür",
            "monkeys eat no glass",
            "twelve chars of mine",
        ] {
            assert!(!is_common(password), "{password}");
        }
    }

    #[test]
    fn the_own_name_is_refused_with_little_beside_it() {
        let personal = ["Ada Lovelace", "ada@example.com"];
        for password in ["ada@example.com", "AdaLovelace1815", "lovelace-ada-12!", "Ada Lovelace"] {
            assert!(is_personal(password, &personal), "{password}");
        }
        for password in ["Adam and Eve went home", "a ship in a harbour", "", "example of mine own"]
        {
            assert!(!is_personal(password, &personal), "{password}");
        }
        assert!(!is_personal("whatever it is", &["", " "]));
    }
}
