package highwater;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Calls constructors and methods whose parameters differ between releases.
 *
 * Kafka adds, moves and drops parameters from one release to the next; their types say what each is.
 * Every parameter takes the first part of its type that no parameter before it took; if all are
 * taken, the last one again. A parameter for which there is no part is null, false or an empty option.
 */
public final class Parts {
    private static final Map<String, Method> METHODS = new ConcurrentHashMap<>();
    private static final Map<String, Field> FIELDS = new ConcurrentHashMap<>();

    private final List<Object> parts;
    private Function<Type, Object> maker = type -> null;

    private Parts(List<Object> parts) { this.parts = parts; }

    public static Parts of(Object... parts) { return new Parts(Arrays.asList(parts)); }

    /** Asks `maker` first, by the full type of a parameter; null leaves it to the parts. */
    public Parts madeBy(Function<Type, Object> maker) {
        this.maker = maker;
        return this;
    }

    /** The first of these classes that this release has. */
    public static Class<?> type(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new IllegalStateException("this release has none of " + Arrays.toString(names));
    }

    @SuppressWarnings("unchecked")
    public static Object constant(Class<?> type, String name) {
        return Arrays.stream(type.getEnumConstants()).filter(c -> ((Enum<?>) c).name().equals(name)).findFirst().orElseThrow();
    }

    /** An object of the type, by its constructor with the most parameters. */
    public <T> T make(Class<T> type) {
        Constructor<?> constructor = Arrays.stream(type.getDeclaredConstructors())
            .max(Comparator.comparingInt(Constructor::getParameterCount)).orElseThrow();
        return type.cast(run(() -> open(constructor).newInstance(arguments(constructor))));
    }

    /** The result of the method of that name with the most parameters; a static one if `target` is a class. */
    public Object call(Object target, String name) {
        Class<?> type = target instanceof Class<?> c ? c : target.getClass();
        Method method = METHODS.computeIfAbsent(type.getName() + " most " + name, k -> all(type, name)
            .max(Comparator.comparingInt(Method::getParameterCount)).orElseThrow(() -> new IllegalStateException(k)));
        return run(() -> open(method).invoke(target instanceof Class<?> ? null : target, arguments(method)));
    }

    private static java.util.stream.Stream<Method> all(Class<?> type, String name) {
        List<Method> found = new ArrayList<>();
        for (Class<?> c = type; c != null; c = c.getSuperclass())
            for (Method m : c.getDeclaredMethods()) if (m.getName().equals(name) && !m.isBridge()) found.add(m);
        for (Method m : type.getMethods()) if (m.getName().equals(name) && !m.isBridge()) found.add(m);
        return found.stream();
    }

    /** Calls a method by its name and its arguments, none of which is null. */
    public static Object ask(Object target, String name, Object... arguments) {
        Class<?> type = target instanceof Class<?> c ? c : target.getClass();
        StringBuilder key = new StringBuilder(type.getName()).append(' ').append(name);
        for (Object argument : arguments) key.append(' ').append(argument.getClass().getName());
        Method method = METHODS.computeIfAbsent(key.toString(), k -> all(type, name)
            .filter(m -> accepts(m, arguments)).findFirst().orElseThrow(() -> new IllegalStateException("no " + k)));
        return run(() -> open(method).invoke(target instanceof Class<?> ? null : target, arguments));
    }

    private static boolean accepts(Method method, Object[] arguments) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length != arguments.length) return false;
        for (int i = 0; i < types.length; i++) if (!boxed(types[i]).isInstance(arguments[i])) return false;
        return true;
    }

    /** The type of the only parameter of a method. */
    public static Class<?> parameterOf(Object target, String name) {
        return all(target.getClass(), name).findFirst().orElseThrow().getParameterTypes()[0];
    }

    /** Whether this release has the class. */
    public static boolean hasType(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** An object by the constructor with just these parameters. */
    public static Object made(Class<?> type, Class<?>[] parameters, Object... arguments) {
        return run(() -> open(type.getDeclaredConstructor(parameters)).newInstance(arguments));
    }

    static boolean hasField(Object target, String name) {
        for (Class<?> c = target.getClass(); c != null; c = c.getSuperclass())
            for (Field f : c.getDeclaredFields()) if (f.getName().equals(name)) return true;
        return false;
    }

    public static boolean has(Object target, String name) {
        return all(target instanceof Class<?> c ? c : target.getClass(), name).findAny().isPresent();
    }

    /** The value of a field, private or not; of a static one if `target` is a class. */
    public static Object get(Object target, String name) {
        return run(() -> target instanceof Class<?> type ? field(type, name).get(null) : field(target.getClass(), name).get(target));
    }

    public static void set(Object target, String name, Object value) {
        run(() -> { field(target.getClass(), name).set(target, value); return null; });
    }

    private static Field field(Class<?> type, String name) {
        return FIELDS.computeIfAbsent(type.getName() + " " + name, k -> {
            for (Class<?> c = type; c != null; c = c.getSuperclass())
                for (Field f : c.getDeclaredFields()) if (f.getName().equals(name)) return open(f);
            throw new IllegalStateException(k);
        });
    }

    private Object[] arguments(Executable called) {
        boolean[] taken = new boolean[parts.size()];
        Class<?>[] types = called.getParameterTypes();
        Type[] full = called.getGenericParameterTypes();
        Object[] found = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            Object made = maker.apply(full.length == types.length ? full[i] : types[i]);
            found[i] = made != null ? made : part(boxed(types[i]), taken, called);
        }
        return found;
    }

    private Object part(Class<?> type, boolean[] taken, Executable called) {
        Object again = null;
        for (int i = 0; i < taken.length; i++) {
            if (!type.isInstance(parts.get(i))) continue;
            if (!taken[i]) {
                taken[i] = true;
                return parts.get(i);
            }
            again = parts.get(i);
        }
        if (again != null) return again;
        if (type == scala.Option.class) return scala.Option.empty();
        if (type == Optional.class) return Optional.empty();
        if (type == Boolean.class) return false;
        if (Number.class.isAssignableFrom(type)) throw new IllegalStateException("no number for " + called);
        return null;
    }

    private static Class<?> boxed(Class<?> type) {
        return type.isPrimitive() ? java.lang.invoke.MethodType.methodType(type).wrap().returnType() : type;
    }

    private static <A extends AccessibleObject> A open(A member) {
        member.setAccessible(true);
        return member;
    }

    interface Attempt { Object run() throws ReflectiveOperationException; }

    private static Object run(Attempt attempt) {
        try {
            return attempt.run();
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) throw cause;
            if (e.getCause() instanceof Error cause) throw cause;
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
