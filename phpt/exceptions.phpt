--TEST--
The exceptions are a tree below RuntimeException, and a script can throw and extend them
--FILE--
<?php
class Mine extends Askr\BusyException {}

foreach (['Busy', 'Uncertain', 'Full', 'Unavailable', 'Corrupt'] as $kind) {
    try {
        throw new ("Askr\\{$kind}Exception")('text', 7, new LogicException('cause'));
    } catch (Askr\Exception $e) {
        echo $e::class, ' ', $e->getMessage(), ' ', $e->getCode(), ' ', $e->getPrevious()->getMessage(), "\n";
    }
}
var_dump(new Mine instanceof RuntimeException, new Askr\Exception instanceof Askr\BusyException);
?>
--EXPECT--
Askr\BusyException text 7 cause
Askr\UncertainException text 7 cause
Askr\FullException text 7 cause
Askr\UnavailableException text 7 cause
Askr\CorruptException text 7 cause
bool(true)
bool(false)
