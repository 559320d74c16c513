import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'
import { mailJobPolicy } from './mail-job.ts'
import { mailTemplates } from './mail-texts.ts'

/** A mail to the owner of the job's tenant. It names a reference by its hash: the queue holds no secret. */
export const accountMailJob = jobKind({
  name: 'account.mail',
  payload: Type.Object({
    mailId: Type.String(),
    template: Type.Enum([...mailTemplates]),
    to: Type.Optional(Type.String()),
    refHash: Type.Optional(Type.String()),
    lang: Type.Optional(Type.String()),
    about: Type.Optional(Type.String()),
  }),
  ...mailJobPolicy,
})
