--TEST--
Scalars are converted as PHP converts them, and what a conversion throws is passed on
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

class Text
{
    public function __toString(): string { return 'from an object'; }
}
class Thrower
{
    public function __toString(): string { throw new LogicException('no text'); }
}

askr_queue_push(12, 3.5, '0', true, '7');
echo json_encode(askr_queue_list('12', 'pending')[0]['payload']), "\n";
askr_queue_push('q', new Text);
var_dump(askr_queue_pop('q', '60', '0')['payload']);
attempt(fn () => askr_queue_push('q', new Thrower));
attempt(fn () => askr_queue_push_many('q', [new Text]));
var_dump(askr_queue_size('q'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
"3.5"
string(14) "from an object"
LogicException: no text
TypeError: askr_queue_push_many(): Argument #2 ($payloads) must contain only strings, Text given
int(0)
