import { useTexts } from '../language/use-texts';
import { Icon, type IconName } from '../shell/icon';

/** Shown beside the card if there is room: a description of the product, in the colour of its logo. */
export function EntranceSide({ about }: { readonly about: string }) {
  const t = useTexts();
  const points: readonly (readonly [IconName, string])[] = [
    ['chart', t('Attendance, fees and results, as they stand today')],
    ['history', t('Every record with its history, and a way back')],
    ['print', t('Reports to print, share and build on')],
  ];
  return (
    <div className="entrance-side">
      <div>
        <p className="entrance-about">{about}</p>
        <ul className="plain-list entrance-points">
          {points.map(([icon, text]) => (
            <li key={icon}>
              <span className="entrance-icon">
                <Icon name={icon} size={20} />
              </span>
              {text}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
