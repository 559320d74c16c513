import { resolve } from 'node:path'
import { writeDurably } from '#lib/durable-file.ts'
import { type Command, textOption } from '../command.ts'
import { counted } from '../help.ts'
import { makePackage } from './make-package.ts'

export const packApp: Command = {
  name: 'app pack',
  summary: 'Bundle an app and pack it into a zip that servers install.',
  description:
    'FOLDER is the folder with `app.json`, the present one when absent. Scripts in `src`, and TypeScript and JSX anywhere, that pages name (`<script type="module" src="src/main.ts">`) are bundled with what they import, wherever it lies; everything else is packed as it is, but `src`, `test`, `node_modules`, files that begin with a dot, `package.json`, `tsconfig.json`, `*.md`, `*.zip`, TypeScript and JSX. The same folder makes the same bytes. The package is checked as a server does; nothing is written where it is refused. What the sandbox of apps will not load or run of its pages, such as a script within a page, is warned of.',
  positionals: ['[FOLDER]'],
  options: {
    out: {
      type: 'string',
      value: 'FILE',
      meaning: 'Where the package goes; `ID-VERSION.zip` in the folder when absent.',
    },
  },
  async run(input) {
    const folder = resolve(input.arguments.FOLDER ?? '.')
    const { manifest, zip, entries, inflatedBytes, warnings } = await makePackage(folder)
    const { id, name, version } = manifest
    const file = resolve(textOption(input, 'out') ?? `${folder}/${id}-${version}.zip`)
    // Whatever has the name is replaced: a link there would lead elsewhere.
    await writeDurably(file, zip, { mode: 0o644 })
    return {
      text: [
        `${file}: ${name} ${version}, ${counted(entries, 'file')}, ${kilobytes(zip.length)} packed, ${kilobytes(inflatedBytes)} in all.`,
        ...warnings,
      ],
      data: { file, id, name, version, entries, bytes: zip.length, inflatedBytes, warnings },
    }
  },
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
