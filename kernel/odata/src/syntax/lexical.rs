//! The forms of primitive values, character by character.
//!
//! Each function reads a form from the start of a text and answers its length, or how far the
//! text looked like that form. URLs and payloads share them: a URL is decoded before.

/// The length of a form, or the offset at which a text stopped to look like it.
pub(crate) type Lexed = Result<usize, usize>;

/// Reads from the start of a text.
struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn one(&mut self, accept: impl Fn(u8) -> bool) -> Result<(), usize> {
        match self.peek() {
            Some(byte) if accept(byte) => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.at),
        }
    }

    fn byte(&mut self, expected: u8) -> Result<(), usize> {
        self.one(|byte| byte.eq_ignore_ascii_case(&expected))
    }

    fn eat(&mut self, accept: impl Fn(u8) -> bool) -> bool {
        self.one(accept).is_ok()
    }

    /// At least `min` and at most `max` digits.
    fn digits(&mut self, min: usize, max: usize) -> Result<(), usize> {
        let start = self.at;
        while self.at - start < max && self.eat(|byte| byte.is_ascii_digit()) {}
        if self.at - start < min { Err(self.at) } else { Ok(()) }
    }

    /// Two digits, the first of which decides what the second may be.
    fn pair(&mut self, second: impl Fn(u8) -> Option<(u8, u8)>) -> Result<(), usize> {
        let Some((low, high)) = self.peek().and_then(second) else { return Err(self.at) };
        self.at += 1;
        self.one(|byte| (low..=high).contains(&byte))
    }

    fn year(&mut self) -> Result<(), usize> {
        self.eat(|byte| byte == b'-');
        if self.eat(|byte| byte == b'0') {
            return self.digits(3, 3);
        }
        self.one(|byte| byte.is_ascii_digit())?;
        self.digits(3, usize::MAX)
    }

    fn date(&mut self) -> Result<(), usize> {
        self.year()?;
        self.byte(b'-')?;
        self.pair(|first| match first {
            b'0' => Some((b'1', b'9')),
            b'1' => Some((b'0', b'2')),
            _ => None,
        })?;
        self.byte(b'-')?;
        self.pair(|first| match first {
            b'0' => Some((b'1', b'9')),
            b'1' | b'2' => Some((b'0', b'9')),
            b'3' => Some((b'0', b'1')),
            _ => None,
        })
    }

    fn hour(&mut self) -> Result<(), usize> {
        self.pair(|first| match first {
            b'0' | b'1' => Some((b'0', b'9')),
            b'2' => Some((b'0', b'3')),
            _ => None,
        })
    }

    fn minute(&mut self) -> Result<(), usize> {
        self.pair(|first| matches!(first, b'0'..=b'5').then_some((b'0', b'9')))
    }

    fn second(&mut self) -> Result<(), usize> {
        self.pair(|first| match first {
            b'0'..=b'5' => Some((b'0', b'9')),
            // A leap second.
            b'6' => Some((b'0', b'0')),
            _ => None,
        })
    }

    fn time_of_day(&mut self) -> Result<(), usize> {
        self.hour()?;
        self.byte(b':')?;
        self.minute()?;
        if self.eat(|byte| byte == b':') {
            self.second()?;
            if self.eat(|byte| byte == b'.') {
                self.digits(1, 12)?;
            }
        }
        Ok(())
    }

    fn offset(&mut self) -> Result<(), usize> {
        if self.eat(|byte| byte.eq_ignore_ascii_case(&b'Z')) {
            return Ok(());
        }
        self.one(|byte| matches!(byte, b'+' | b'-'))?;
        self.hour()?;
        self.byte(b':')?;
        self.minute()
    }

    fn duration(&mut self) -> Result<(), usize> {
        self.eat(|byte| byte == b'-');
        self.byte(b'P')?;
        let component = |scanner: &mut Self, unit: u8| {
            let start = scanner.at;
            // Digits without this unit may belong to the next, smaller one.
            if scanner.digits(1, usize::MAX).is_err() || scanner.byte(unit).is_err() {
                scanner.at = start;
            }
        };
        component(self, b'D');
        if self.eat(|byte| byte.eq_ignore_ascii_case(&b'T')) {
            component(self, b'H');
            component(self, b'M');
            let start = self.at;
            if self.digits(1, usize::MAX).is_ok() {
                if self.eat(|byte| byte == b'.') {
                    self.digits(1, usize::MAX)?;
                }
                self.byte(b'S')?;
            } else {
                self.at = start;
            }
        } else if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.digits(1, usize::MAX)?;
            return Err(self.at);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), usize> {
        self.eat(|byte| matches!(byte, b'+' | b'-'));
        self.digits(1, usize::MAX)?;
        // A dot or an `e` that no digit follows belongs to what comes next.
        let whole = self.at;
        if self.eat(|byte| byte == b'.') && self.digits(1, usize::MAX).is_err() {
            self.at = whole;
            return Ok(());
        }
        let mantissa = self.at;
        if self.eat(|byte| byte.eq_ignore_ascii_case(&b'e')) {
            self.eat(|byte| matches!(byte, b'+' | b'-'));
            if self.digits(1, usize::MAX).is_err() {
                self.at = mantissa;
            }
        }
        Ok(())
    }
}

fn lex<'t>(text: &'t str, form: impl FnOnce(&mut Scanner<'t>) -> Result<(), usize>) -> Lexed {
    let mut scanner = Scanner::new(text);
    form(&mut scanner)?;
    Ok(scanner.at)
}

/// `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`.
pub(crate) fn guid(text: &str) -> Lexed {
    lex(text, |scanner| {
        for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
            if group > 0 {
                scanner.byte(b'-')?;
            }
            for _ in 0..length {
                scanner.one(|byte| byte.is_ascii_hexdigit())?;
            }
        }
        Ok(())
    })
}

/// `2026-11-20`.
pub(crate) fn date(text: &str) -> Lexed {
    lex(text, Scanner::date)
}

/// `18:00`, `18:00:00.5`.
pub(crate) fn time_of_day(text: &str) -> Lexed {
    lex(text, Scanner::time_of_day)
}

/// `2026-11-20T18:00:00.5+01:00`.
pub(crate) fn date_time_offset(text: &str) -> Lexed {
    lex(text, |scanner| {
        scanner.date()?;
        scanner.byte(b'T')?;
        scanner.time_of_day()?;
        scanner.offset()
    })
}

/// `-P1DT2H3M4.5S`.
pub(crate) fn duration(text: &str) -> Lexed {
    lex(text, Scanner::duration)
}

/// `-12.5e3`, without `INF` and `NaN`.
pub(crate) fn number(text: &str) -> Lexed {
    lex(text, Scanner::number)
}

/// `INF`, `-INF`, `NaN`.
pub(crate) fn not_finite(text: &str) -> Lexed {
    let found = ["INF", "-INF", "NaN"].into_iter().find(|word| text.starts_with(word));
    found.map(str::len).ok_or(usize::from(text.starts_with('-')))
}

/// An optional sign and at most `digits` digits.
pub(crate) fn integer(text: &str, sign: bool, digits: usize) -> Lexed {
    lex(text, |scanner| {
        if sign {
            scanner.eat(|byte| matches!(byte, b'+' | b'-'));
        }
        scanner.digits(1, digits)
    })
}

/// base64url with optional padding; the unused bits of the last character are zero.
pub(crate) fn binary(text: &str) -> Lexed {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let bytes = text.as_bytes();
    let length = bytes.iter().take_while(|byte| is_digit(byte)).count();
    let last = length.checked_sub(1).map(|last| bytes[last]);
    let (allowed, padding): (&[u8], usize) = match length % 4 {
        0 => return Ok(length),
        2 => (b"AQgw", 2),
        3 => (b"AEIMQUYcgkosw048", 1),
        _ => return Err(length),
    };
    if !last.is_some_and(|last| allowed.contains(&last)) {
        return Err(length);
    }
    let pad = &"=="[..padding];
    Ok(if text[length..].starts_with(pad) { length + padding } else { length })
}

/// Whether `next` can begin an identifier.
pub(crate) fn starts_identifier(next: char) -> bool {
    next == '_' || next.is_alphabetic()
}

/// Whether `next` can continue an identifier.
pub(crate) fn continues_identifier(next: char) -> bool {
    next == '_' || next.is_alphanumeric()
}

/// The longest identifier that OData allows, in characters.
pub(crate) const LONGEST_IDENTIFIER: usize = 128;

/// An identifier, or the offset at which it fails.
pub(crate) fn identifier(text: &str) -> Lexed {
    let mut characters = text.char_indices().enumerate();
    match characters.next() {
        Some((_, (_, first))) if starts_identifier(first) => {}
        _ => return Err(0),
    }
    for (count, (at, next)) in characters {
        if !continues_identifier(next) {
            return Ok(at);
        }
        if count == LONGEST_IDENTIFIER {
            return Err(at);
        }
    }
    Ok(text.len())
}
