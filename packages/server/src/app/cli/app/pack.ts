import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, textOption } from '../command.ts'
import { counted } from '../help.ts'
import { makePackage } from './make-package.ts'

export const packApp: Command = {
  name: 'app pack',
  summary: 'Bundle an app and pack it into a zip that servers install.',
  description:
    'FOLDER is the folder with `app.json`, the present one when absent. TypeScript that pages name (`<script type="module" src="src/main.ts">`) is bundled with what it imports; everything else is packed as it is, but `src`, `node_modules`, files that begin with a dot, `package.json`, `tsconfig.json`, `*.ts`, `*.md` and `*.zip`. The same folder makes the same bytes. The package is checked as a server does; nothing is written where it is refused.',
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
    const { manifest, zip, entries, inflatedBytes } = await makePackage(folder)
    const { id, name, version } = manifest
    const file = resolve(textOption(input, 'out') ?? `${folder}/${id}-${version}.zip`)
    await writeFile(file, zip)
    return {
      text: `${file}: ${name} ${version}, ${counted(entries, 'file')}, ${kilobytes(zip.length)} packed, ${kilobytes(inflatedBytes)} in all.`,
      data: { file, id, name, version, entries, bytes: zip.length, inflatedBytes },
    }
  },
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
