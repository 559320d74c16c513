import { buildSizes, pageSize } from '../../test/harness/build-sizes.ts'
import { atMost, type Row, rowOf } from '../row.ts'

/** What is loaded, exactly: the same at each run. */
export async function sizes(): Promise<Row[]> {
  const { home, screens, largestChunk } = buildSizes()
  const size = (what: string, value: number, most: number) =>
    rowOf({ what, unit: 'kB gzip', runs: [value], bar: atMost(most) })
  const added = [...screens].filter(([, value]) => value > 0).toSorted(([, one], [, other]) => other - one)
  return [
    size('scripts of a usable feed', home.scripts, 90),
    size('scripts of the sign-in page', pageSize('login'), 15),
    ...added.map(([name, value]) => size(`scripts that ${name.split('/')[2]} adds`, value, 40)),
    size('largest chunk', largestChunk, 200),
    size('styles of a usable feed', home.styles, 20),
  ]
}
