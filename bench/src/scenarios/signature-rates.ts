import { repeat } from '../measure.ts'
import { runOn } from '../processes.ts'
import type { Settings } from '../settings.ts'

const signatures = new URL('../ceilings/signatures.ts', import.meta.url)

/** Signatures and verifications a second on the server's processor, with nothing else. */
export function signatureRates({ runs, seconds }: Settings): Promise<{ signed: number; verified: number }[]> {
  return repeat(runs, () => runOn(0, signatures, { seconds: seconds / 2 }))
}
