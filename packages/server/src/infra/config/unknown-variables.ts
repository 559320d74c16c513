import { nearestName } from '#lib/nearest-name.ts'
import type { UnknownVariable } from './config.ts'
import { type VariableName, variables } from './variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

const known = Object.keys(variables) as VariableName[]
// What systemd and the tools of S3 services set beside ours.
const ofOthers = /^(?:LISTEN_(?:FDS|PID|FDNAMES)|AWS_.*|NODE_.*)$/

/** What is probably misspelt. The environment is full of names of other programs: there a name counts when it is nearly that of
 * a variable which is not set, and more freely when it begins with KITH_. A file is the server's own. */
export function findUnknown(env: Environment, file: Environment): UnknownVariable[] {
  const isSet = (name: string) => env[name] !== undefined || file[name] !== undefined
  const inFile = strangersIn(file).map((name) => ({ name, from: 'file' as const, nearest: nearest(name) }))
  const inEnvironment = strangersIn(env).flatMap((name) => {
    const meant = /^KITH_/i.test(name) ? nearest(name) : nearest(name, mostInEnvironment(name))
    return meant === undefined || isSet(meant) ? [] : [{ name, from: 'environment' as const, nearest: meant }]
  })
  return [...inFile, ...inEnvironment]
}

const strangersIn = (environment: Environment) =>
  Object.keys(environment).filter((name) => !(name in variables) && !ofOthers.test(name))

// Of short names each differs from another program's in a letter or two: TLS_KEY from API_KEY, DATA_DIR from BASE_DIR.
const mostInEnvironment = ({ length }: string) => (length < 6 ? 0 : length < 10 ? 1 : 2)

function nearest(name: string, most?: number): VariableName | undefined {
  const plain = name.toUpperCase().replace(/^KITH_/, '')
  return nearestName(plain, known, most) as VariableName | undefined
}

/** For a person: the name, where it stands, and what was probably meant. */
export function describeUnknown({ name, from, nearest: meant }: UnknownVariable): string {
  const where = from === 'file' ? ' in .env' : ''
  return meant === undefined ? `${name}${where}` : `${name}${where} (${meant}?)`
}
