import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AppManifest } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { argument, type Command, choiceOption, UsageError } from '../command.ts'

const templates = ['empty', 'todo', 'poll'] as const
export const examplesFolder = fileURLToPath(new URL('../../../../../../examples/', import.meta.url))
const sdk = fileURLToPath(new URL('../../../../../app/src/', import.meta.url))
const nameForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

export const initApp: Command = {
  name: 'app init',
  summary: 'Make the folder of a new app.',
  description:
    'NAME is the folder, and its last segment the id of the app: small letters, digits and hyphens. `todo` and `poll` are the example apps; `empty` shows who uses it.',
  positionals: ['NAME'],
  options: {
    template: {
      type: 'string',
      value: templates.join('|'),
      meaning: 'What it begins with; `empty` when absent.',
    },
  },
  async run(input) {
    const folder = resolve(argument(input, 'NAME'))
    const name = basename(folder)
    if (!nameForm.test(name)) throw new UsageError('NAME has small letters, digits and hyphens, 64 at most')
    const template = choiceOption(input, 'template', templates) ?? 'empty'
    await makeFolder(folder)
    const example = join(examplesFolder, template)
    // Tests of the examples need this repository.
    const filter = (path: string) => path !== join(example, 'test')
    await cp(example, folder, { recursive: true, filter })
    const manifest = await rename(folder, name)
    await writeFile(
      join(folder, 'tsconfig.json'),
      `${JSON.stringify(compilerOptions(folder), undefined, 2)}\n`,
    )
    return {
      text: `${folder} has ${manifest.name}. Try it: npx kith app dev ${relative('', folder)}`,
      data: { folder, template, manifest },
    }
  },
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0)
    throw new Failure('E-DUPLICATE', { message: `${folder} is there already, and not empty.` })
}

/** An app of its own: another id, and a first version. */
async function rename(folder: string, id: string): Promise<AppManifest> {
  const file = join(folder, 'app.json')
  const { titles: _, ...example } = JSON.parse(await readFile(file, 'utf8')) as AppManifest
  const manifest = { ...example, id, name: titleOf(id) }
  await writeFile(file, `${JSON.stringify({ ...manifest, version: '0.1.0' }, undefined, 2)}\n`)
  return { ...manifest, version: '0.1.0' }
}

function titleOf(id: string): string {
  const words = id.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** For editors: the SDK is where this program is. */
function compilerOptions(folder: string): object {
  return {
    compilerOptions: {
      target: 'esnext',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['esnext', 'dom', 'dom.iterable'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      paths: { '@kith/app': [`${relative(folder, sdk).replaceAll('\\', '/')}/index.ts`] },
    },
    include: ['src'],
  }
}
