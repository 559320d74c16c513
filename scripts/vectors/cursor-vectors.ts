import { encode } from './signing.ts'

const raw = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64url')

/** `vectors/cursors/cursors.json`. */
export function cursorVectors() {
  const hello = { s: 'created', v: 1_769_860_800, id: 42 }
  const places = {
    'a number as value and id': hello,
    'a text as value and id': { s: 'name', v: 'Grüße, 世界', id: 'b1~x' },
    'a row without value': { s: 'recent', v: null, id: 'b1~x' },
    'a fraction': { s: 'score', v: 0.5, id: 'x' },
    'an empty text': { s: 'name', v: '', id: '' },
  }
  const invalid = {
    nothing: '',
    'no base64url': '***',
    padding: `${encode({ s: 'created', v: 12, id: 'ab' })}=`,
    'another spelling of the same bytes': `${raw('{"s":"created","v":12,"id":"a"}').slice(0, -1)}R`,
    'no UTF-8': raw(Buffer.from([0x7b, 0xff, 0x7d])),
    'no JSON': raw('{'),
    null: raw('null'),
    'a list': raw('["created",1,"a"]'),
    'of another sort': encode({ ...hello, s: 'name' }),
    'of a sort in capitals': encode({ ...hello, s: 'CREATED' }),
    'without sort': encode({ v: 1, id: 'a' }),
    'without value': encode({ s: 'created', id: 'a' }),
    'without id': encode({ s: 'created', v: 1 }),
    'an object as value': encode({ ...hello, v: {} }),
    'a boolean as id': encode({ ...hello, id: true }),
    'null as id': encode({ ...hello, id: null }),
    'a number that is none': raw('{"s":"created","v":1e999,"id":"a"}'),
    'U+0000 in a text': raw('{"s":"created","v":"\\u0000","id":"a"}'),
    'more than 2048 characters': encode({ ...hello, v: 'x'.repeat(1600) }),
  }
  return {
    description:
      'Cursors: base64url of the JSON {s, v, id}: the sort order, the sort value of the last row of the page and its id. A list in the order `sort` takes the valid ones of its own, whatever the order of their members, and refuses the others with E-VALIDATION. Clients hand them back as they got them.',
    valid: [
      ...Object.entries(places).map(([name, place]) => ({
        name,
        sort: place.s,
        cursor: encode(place),
        place,
      })),
      {
        name: 'members in another order, and one more',
        sort: 'created',
        cursor: raw('{"extra":true,"id":42,"v":1769860800,"s":"created"}'),
        place: hello,
      },
    ],
    invalid: Object.entries(invalid).map(([name, cursor]) => ({ name, sort: 'created', cursor })),
  }
}
