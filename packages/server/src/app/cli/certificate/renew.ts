import { type CertificateState, eachPage, findState, renewCertificate } from '#features/certificates/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { findRunningServer } from '../../lock-data-dir.ts'
import type { Command } from '../command.ts'
import { type Program, withProgram } from '../open-program.ts'

export const renewCertificates: Command = {
  name: 'certificate renew',
  summary: 'Have the certificate of a name made anew now, or those of all names whose last attempt failed.',
  description:
    'The running server does it, within seconds; `kith certificate list` shows what came of it. A name that waits because the authority limits how much it issues goes on waiting.',
  positionals: ['[NAME]'],
  options: {},
  run: (input) =>
    withProgram(input, async (program) => {
      const { tls } = program.services.config
      if (tls.kind !== 'acme')
        throw new Failure('E-STATE', { message: 'This server does not get certificates itself (TLS).' })
      const states = await findMeant(program, input.arguments.NAME?.toLowerCase())
      const renewed: string[] = []
      const held: string[] = []
      for (const { name, zone } of states) {
        const { heldUntil } = await program.services.db.transact(serverTenant, (tx) =>
          renewCertificate(program.services, tx, { name, zone }),
        )
        if (heldUntil === undefined) renewed.push(name)
        else held.push(name)
      }
      const isRunning = (await findRunningServer(program.services.config)) !== undefined
      return { text: sentences({ renewed, held, isRunning }), data: { renewed, held }, ok: held.length === 0 }
    }),
}

async function findMeant(
  { services: { db } }: Program,
  name: string | undefined,
): Promise<readonly CertificateState[]> {
  if (name === undefined) {
    const all = (await Array.fromAsync(eachPage(db))).flat()
    return all.filter(({ fault, unwantedSince }) => fault !== undefined && unwantedSince === undefined)
  }
  const state = await findState(db.reader(serverTenant), name)
  if (!state || state.unwantedSince !== undefined)
    throw new Failure('E-NOTFOUND', { message: `${name} is no name that this server gets certificates for.` })
  return [state]
}

function sentences({
  renewed,
  held,
  isRunning,
}: {
  readonly renewed: readonly string[]
  readonly held: readonly string[]
  readonly isRunning: boolean
}): string[] {
  const lines = [
    ...renewed.map((name) =>
      isRunning
        ? `${name} is renewed by the running server.`
        : `${name} is renewed once a server runs: none has this DATA_DIR now.`,
    ),
    ...held.map((name) => `${name} waits: the authority limits how much it issues for its domain.`),
  ]
  return lines.length === 0 ? ['No name has failed.'] : lines
}
