import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'

/** The modules with which a page hosts apps, by folder. Their types are stripped when they are first asked for. */
export const hostModules: Readonly<Record<string, readonly string[]>> = {
  host: [
    'app-session.ts',
    'file-access.ts',
    'focus-guard.ts',
    'index.ts',
    'mount-app.ts',
    'pace.ts',
    'relay.ts',
  ],
  messages: ['flow.ts', 'messages.ts', 'shape.ts'],
}

/** The JavaScript of one of these modules, by folder and file; undefined for others. */
export async function readHostModule(name: string): Promise<string | undefined> {
  const [folder = '', file = ''] = name.split('/')
  if (!hostModules[folder]?.includes(file)) return undefined
  const url = new URL(`../${name}`, import.meta.resolve('@kith/app/host'))
  return stripTypes(await readFile(url, 'utf8'))
}

/** The JavaScript by which pages compare versions and file types as the server does. */
export const protocolModules = ['app-file-types', 'app-version'] as const

export async function readProtocolModule(name: (typeof protocolModules)[number]): Promise<string> {
  return stripTypes(await readFile(new URL(`${name}.ts`, import.meta.resolve('@kith/protocol')), 'utf8'))
}

/** Node warns that this function is experimental, though it starts the program with the same code. The warning would be the only
 * line of the log that is no log entry. */
function stripTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
