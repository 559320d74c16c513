import type { Contract } from '../contract.ts'
import { actionContracts } from './actions.ts'
import { auditContracts } from './audit.ts'
import { federationContracts } from './federation.ts'
import { fileContracts } from './files.ts'
import { profileContracts } from './profiles.ts'
import { referenceContracts } from './references.ts'
import { signInContracts } from './sign-in.ts'

export * from './actions.ts'
export * from './audit.ts'
export * from './federation.ts'
export * from './files.ts'
export * from './profiles.ts'
export * from './references.ts'
export * from './sign-in.ts'

/** Every endpoint of the server. */
export const allContracts: readonly Contract[] = [
  ...signInContracts,
  ...profileContracts,
  ...actionContracts,
  ...federationContracts,
  ...fileContracts,
  ...referenceContracts,
  ...auditContracts,
]
