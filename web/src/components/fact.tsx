// One figure with its name, in a list of class "facts".
export const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd class="number">{value}</dd>
  </div>
);
