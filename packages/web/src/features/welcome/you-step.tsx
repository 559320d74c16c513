import { type Me, updateMe } from '@kith/protocol'
import { useEffect, useState } from 'preact/hooks'
import { useSubmit } from '#features/settings/screens.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { reloadOwnProfile } from './own-profile.ts'
import { welcomeTexts } from './welcome-texts.ts'

interface YouStepProps {
  readonly me: Me
  readonly onDone: () => void
}

/** Name and picture. */
export function YouStep({ me, onDone }: YouStepProps) {
  const t = useTexts(welcomeTexts)
  const [isMissing, setMissing] = useState(false)
  const { problem, isBusy, onSubmit } = useSubmit(async (_, field) => {
    const name = field('name').trim()
    setMissing(name === '')
    if (name === '') return
    await client.call(updateMe, { body: { name } })
    await reloadOwnProfile()
    notify(t.saved)
    onDone()
  })
  return (
    <>
      <p>{t.youWhy}</p>
      <OwnPicture me={me} />
      <form class="stack" noValidate onSubmit={onSubmit}>
        <Field
          label={t.name}
          name="name"
          // Until it is chosen the name is the identity.
          defaultValue={me.name === me.idTag ? '' : me.name}
          maxLength={100}
          autocomplete="name"
          problem={isMissing ? t.nameMissing : problem}
        />
        <div>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t.save}
          </Button>
        </div>
      </form>
    </>
  )
}

type People = typeof import('#features/people/screens.ts')

function OwnPicture({ me: { idTag, name, profilePic } }: { readonly me: Me }) {
  const t = useTexts(welcomeTexts)
  const people = usePeople()
  const [file, setFile] = useState<File>()
  const hasPicture = profilePic !== undefined
  const close = () => {
    setFile(undefined)
    void reloadOwnProfile()
  }
  return (
    <div class="row">
      {/* Another picture is another avatar: this one may have found none. */}
      <Avatar key={profilePic} idTag={idTag} name={name} hasPicture={hasPicture} size={72} />
      {people && <people.PickPicture label={hasPicture ? t.changePicture : t.addPicture} onPick={setFile} />}
      {people && file && <people.CropDialog place="image" file={file} idTag={idTag} onClose={close} />}
    </div>
  )
}

/** The editor of pictures, which comes with the screens of people. */
function usePeople(): People | undefined {
  const [people, setPeople] = useState<People>()
  useEffect(() => void import('#features/people/screens.ts').then(setPeople, () => undefined), [])
  return people
}
