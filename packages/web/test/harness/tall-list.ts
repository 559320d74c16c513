import { join } from 'node:path'
import { bundleTextForBrowser } from '../../../server/test/harness/browser-bundle.ts'

const ui = join(import.meta.dirname, '../../src/ui')

/** The script of a page with a list of so many lines of 60 px. */
export function tallListScript(count: number): Promise<string> {
  return bundleTextForBrowser(`
    import { h, render } from 'preact'
    import { WindowList } from '${ui}/window-list.tsx'
    const items = Array.from({ length: ${count} }, (_, at) => at)
    const line = (at) => h('a', { href: '#' + at, style: { display: 'block', height: '60px' } }, 'Line ' + at)
    const list = { items, keyOf: String, nameOf: String, label: 'Lines', isWhole: true, estimate: 60, children: line }
    render(h(WindowList, list), document.body)
  `)
}
