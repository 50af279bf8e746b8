/**
 * A face whose letters are all one box, in any weight. With it in place of the faces of a machine, how wide a text is and where
 * its lines break depends on styles and words alone, and is the same wherever they are laid out.
 */

/** Units: how wide and high a box is, and its line, which is whole pixels in any size that is. */
const EM = 1000;
const WIDE = 550;
const HIGH = 700;
const ASCENT = EM;
const DESCENT = 0;
const SIDE = 50;

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [place, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, place * 2);
  return bytes;
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [place, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, place * 4);
  return bytes;
}

/** All characters are the box: one subtable of the kind that maps many to one (13). */
function characters(): Buffer {
  const ranges = [
    [0x20, 0xd7ff],
    [0xe000, 0x10ffff],
  ];
  const groups = ranges.map(([from = 0, to = 0]) => u32(from, to, 1));
  const length = 16 + 12 * groups.length;
  return Buffer.concat([u16(0, 1, 3, 10), u32(12), u16(13, 0), u32(length, 0, groups.length), ...groups]);
}

/** The outline: four points on its edge, each a step from the one before. */
function box(): Buffer {
  const right = WIDE - SIDE;
  const points = u16(SIDE, 0, right - SIDE, 0, 0, HIGH, 0, -HIGH);
  return Buffer.concat([u16(1, SIDE, 0, right, HIGH, 3, 0), Buffer.from([1, 1, 1, 1]), points, u16(0)]);
}

function names(): Buffer {
  const name = u16(...[...'Boxes'].map((letter) => letter.charCodeAt(0)));
  const ids = [1, 2, 4, 6];
  const records = ids.map((id) => u16(3, 1, 0x409, id, name.length, 0));
  return Buffer.concat([u16(0, ids.length, 6 + 12 * ids.length), ...records, name]);
}

function measures(): Buffer {
  const scripts = u16(650, 600, 0, 75, 650, 600, 0, 350, SIDE, 300, 0);
  const line = u16(0x40, 0x20, 0xffff, ASCENT, DESCENT, 0, ASCENT, -DESCENT);
  const letters = u16(500, HIGH, 0, 0x20, 0);
  const ranges = [Buffer.alloc(10), u32(1, 0, 0, 0), Buffer.from('SVC ')];
  return Buffer.concat([u16(4, WIDE, 400, 5, 0), scripts, ...ranges, line, u32(1, 0), letters]);
}

function sumOf(table: Buffer): number {
  let sum = 0;
  for (let place = 0; place < table.length; place += 4) sum = (sum + table.readUInt32BE(place)) >>> 0;
  return sum;
}

/** The face as a file of TrueType. */
export function boxes(): Buffer {
  const glyph = box();
  const tables: [string, Buffer][] = [
    ['OS/2', measures()],
    ['cmap', characters()],
    ['glyf', Buffer.concat([glyph, glyph])],
    [
      'head',
      Buffer.concat([
        u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
        u16(3, EM),
        u32(0, 0, 0, 0),
        u16(SIDE, 0, WIDE - SIDE, HIGH, 0, 8, 2, 0, 0),
      ]),
    ],
    [
      'hhea',
      Buffer.concat([u32(0x10000), u16(ASCENT, DESCENT, 0, WIDE, SIDE, SIDE, WIDE - SIDE, 1, 0, 0, 0, 0, 0, 0, 0, 1)]),
    ],
    ['hmtx', u16(WIDE, SIDE, SIDE)],
    ['loca', u16(0, glyph.length / 2, glyph.length)],
    ['maxp', Buffer.concat([u32(0x10000), u16(2, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)])],
    ['name', names()],
    ['post', u32(0x30000, 0, 0, 1, 0, 0, 0, 0)],
  ];
  const entries: Buffer[] = [];
  const bodies: Buffer[] = [];
  let offset = 12 + 16 * tables.length;
  for (const [tag, table] of tables) {
    const body = Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
    entries.push(Buffer.from(tag), u32(sumOf(body), offset, table.length));
    bodies.push(body);
    offset += body.length;
  }
  return Buffer.concat([u32(0x10000), u16(tables.length, 128, 3, 32), ...entries, ...bodies]);
}
