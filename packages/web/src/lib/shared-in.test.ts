import { expect, test } from 'vitest'
import { textOfShared } from './shared-in.ts'

const url = 'https://example.org/plums'

test.each([
  [{ title: '', text: '', url: '' }, ''],
  [{ title: 'Plum cake', text: 'With cinnamon', url }, `Plum cake\nWith cinnamon\n${url}`],
  [{ title: '', text: `Look ${url}`, url }, `Look ${url}`],
  [{ title: 'Plum cake', text: url, url: '' }, `Plum cake\n${url}`],
  [{ title: 'Plum cake', text: 'Plum cake, with cinnamon', url }, `Plum cake, with cinnamon\n${url}`],
  [{ title: ' Plum cake ', text: '', url: '' }, 'Plum cake'],
])('%o is the text %j', (shared, text) => {
  expect(textOfShared(shared)).toBe(text)
})
