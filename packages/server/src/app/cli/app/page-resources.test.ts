import { expect, test } from 'vitest'
import { pathFrom, warningsOf } from './page-resources.ts'

test.each([
  ['index.html', 'src/main.ts', 'src/main.ts'],
  ['index.html', './style.css?v=1#top', 'style.css'],
  ['pages/help.html', '../src/help.ts', 'src/help.ts'],
  ['pages/help.html', '/src/help.ts', 'src/help.ts'],
  ['index.html', '/src/../../main.ts', 'main.ts'],
  ['index.html', '../outside.ts', undefined],
  ['index.html', 'https://cdn.example/x.js', undefined],
  ['index.html', '//cdn.example/x.js', undefined],
  ['index.html', 'data:text/javascript,0', undefined],
])('a page %s that names %s means %s', (page, reference, path) => {
  expect(pathFrom(page, reference)).toBe(path)
})

const warningsIn = (html: string) =>
  warningsOf(
    Object.entries({
      'a.html': html,
      'scripts/main.js': '',
      'style.css': '',
      'notes.txt': '<script>1</script>',
    }).map(([path, content]) => ({ path, content: Buffer.from(content) })),
  )

test.each<[string, string]>([
  ['<script>start()</script>', 'a.html has a script within it, which does not run: move it to a file.'],
  ['<SCRIPT type=module>\nstart()</SCRIPT>', 'a.html has a script within it, '],
  ['<button class="x" onclick="go()">Go</button>', 'a.html has onclick="…", which does not run: '],
  ['<script src="https://cdn.example/x.js"></script>', 'a.html names https://cdn.example/x.js, which apps '],
  ['<link href=//cdn.example/x.css rel=stylesheet>', 'a.html names //cdn.example/x.css, which apps '],
  ["<img alt='' src='http://example.org/x.png'>", 'a.html names http://example.org/x.png, which apps '],
  [
    '<script type="module" crossorigin src="/scripts/main.js"></script>',
    'from the page (./scripts/main.js).',
  ],
  ['<link rel="stylesheet" href="other.css">', 'a.html names other.css, which is not there.'],
])('%s is warned of', (html, warning) => {
  expect(warningsIn(`<!doctype html><main>${html}</main>`)).toEqual([expect.stringContaining(warning)])
})

test('what the sandbox loads and runs is not warned of', () => {
  const html = `<link rel="icon" href="data:,"><link rel="stylesheet" href="./style.css">
<!-- <script>old()</script> --><script type="module" src="scripts/main.js"></script>
<script type="application/json">{"a": 1}</script><p>Set ontime = 1, or <a href="https://example.org">read on</a>.</p>
<img src="data:image/gif;base64,AAAA" alt="">`
  expect(warningsIn(html)).toEqual([])
})
