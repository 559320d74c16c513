import { allContracts, openApiDocument } from '../../packages/protocol/src/index.ts'
import type { Page } from './page.ts'

const lineWidth = 150

/** The OpenAPI document of the API, for reading and for generators without a running server. It has no version of the program:
 * it is that of the sources beside it, and a release alone does not change it. */
export const openApiPage: Page = {
  path: 'docs/protocol/openapi.json',
  render() {
    const document = openApiDocument(allContracts, { title: 'Kith', version: '0.0.0', serverUrl: '/' })
    return `${printed(JSON.parse(JSON.stringify(document)), 0)}\n`
  },
}

/** As JSON; what fits on a line stands on one: half as long as with a line for each value, and differences stay readable. */
function printed(value: unknown, depth: number, before = 0): string {
  const whole = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || depth + before + whole.length <= lineWidth) return whole
  const inner = ' '.repeat(depth + 1)
  const lines = Array.isArray(value)
    ? value.map((item) => inner + printed(item, depth + 1))
    : Object.entries(value).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `
        return inner + name + printed(item, depth + 1, name.length)
      })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(depth)}${close}`
}
