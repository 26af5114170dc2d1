--TEST--
Wrong types are PHP's own errors, whatever the function
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

// Every parameter of every function, given something that its type cannot be made of.
foreach (array_merge(...array_values(get_defined_functions())) as $name) {
    if (!str_starts_with($name, 'askr_') || $name === 'askr_test_panic') {
        continue;
    }
    $function = new ReflectionFunction($name);
    foreach ($function->getParameters() as $at => $wrong) {
        $fitting = ['string' => 'pending', 'int' => 2, 'float' => 0.0, 'array' => ['x']];
        $arguments = array_map(fn ($p) => $fitting[ltrim((string) $p->getType(), '?')], $function->getParameters());
        foreach ([new stdClass, $wrong->getType()->getName() === 'array' ? 'text' : []] as $value) {
            $arguments[$at] = $value;
            try {
                $name(...$arguments);
                echo "$name accepted a ", get_debug_type($value), " for \${$wrong->getName()}\n";
            } catch (TypeError $e) {
                $expected = sprintf(
                    '%s(): Argument #%d ($%s) must be of type %s, %s given',
                    $name, $at + 1, $wrong->getName(), $wrong->getType(), get_debug_type($value),
                );
                echo $e->getMessage() === $expected ? '' : "$expected, but: {$e->getMessage()}\n";
            }
        }
    }
    try {
        $name(...array_fill(0, $function->getNumberOfParameters() + 1, 1));
        echo "$name accepted too many arguments\n";
    } catch (ArgumentCountError) {
    }
    if ($function->getNumberOfRequiredParameters() > 0) {
        try {
            $name();
            echo "$name accepted no argument\n";
        } catch (ArgumentCountError) {
        }
    }
}
var_dump(askr_queue_names(), askr_failed_list());

attempt(fn () => askr_queue_push('q', 'x', 'soon'));
attempt(fn () => askr_queue_push('q', 'x', 1e30));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
array(0) {
}
array(0) {
}
TypeError: askr_queue_push(): Argument #3 ($delay) must be of type int, string given
TypeError: askr_queue_push(): Argument #3 ($delay) must be of type int, float given
