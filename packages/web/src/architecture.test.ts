import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadSources, type SourceFile } from '../../server/test/harness/source-files.ts'

const modules = loadSources('packages/web/src').filter(({ path }) => !path.endsWith('.test.ts'))
const tested = new URL('../package.json', import.meta.url)
const { devDependencies } = JSON.parse(readFileSync(tested, 'utf8')) as { devDependencies: object }

const rooms = ['lib', 'worker', 'platform', 'ui', 'features', 'app']
const rankOf = (path: string) => rooms.indexOf(/^packages\/web\/src\/(\w+)\//.exec(path)?.[1] ?? '')
const featureOf = (path: string) => /^packages\/web\/src\/features\/([^/]+)\//.exec(path)?.[1]

function offences(isOffence: (file: SourceFile, target: string) => boolean): string[] {
  return modules.flatMap((file) =>
    file.imports.filter((target) => isOffence(file, target)).map((target) => `${file.path} -> ${target}`),
  )
}

describe('imports of the web app', () => {
  test('point left: lib <- platform <- ui <- features <- app', () => {
    expect(modules.length).toBeGreaterThan(20)
    expect(modules.filter(({ path }) => rankOf(path) < 0).map(({ path }) => path)).toEqual([])
    expect(offences(({ path }, target) => rankOf(target) > rankOf(path))).toEqual([])
  })

  test('reach a feature through its doors: `index.ts`, loaded at the start, and `screens.ts`, loaded with a screen', () => {
    const isOffence = ({ path }: SourceFile, target: string) => {
      const feature = featureOf(target)
      if (feature === undefined || feature === featureOf(path)) return false
      return !/\/(index|screens)\.ts$/.test(target)
    }
    expect(offences(isOffence)).toEqual([])
  })

  test('are of the protocol, the client and the libraries that were chosen', () => {
    const libraries = [...Object.keys(devDependencies), 'preact/hooks']
    const isAllowed = (target: string) =>
      /^packages\/(web|protocol|client)\//.test(target) ||
      target === 'virtual:icon-sprite' ||
      libraries.some(
        (name) => target === name || (target.startsWith(`${name}/`) && !target.startsWith('preact/')),
      )
    expect(offences((_, target) => !isAllowed(target))).toEqual([])
  })
})

test('libraries for React come through no compatibility layer', () => {
  expect(offences((_, target) => target.includes('preact/compat'))).toEqual([])
})

test('no component holds a sentence: they stand in the tables of texts', () => {
  const components = modules.filter(({ path }) => path.endsWith('.tsx'))
  // Text between tags, and the attributes that are shown or read out.
  const written =
    /(?:>\s*[A-Za-zÄÖÜ][\w ,.'äöüß]{2,}\s*<\/)|(?:aria-label|title|alt|placeholder|label)="[^"]*[a-z]/
  expect(components.filter(({ text }) => written.test(text)).map(({ path }) => path)).toEqual([])
})
