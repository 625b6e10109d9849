"""Every name of the simulator's interface exists, documented, on every class that has it.

The names are written as in the C++ interface that this one follows; here they are in snake case.
"""

import inspect
import re

import pytest

from raisim_ros import (
    IMU,
    ArticulatedSystem,
    Box,
    Capsule,
    Compound,
    Cone,
    Contact,
    Cylinder,
    DepthCamera,
    Ground,
    HeightMap,
    Mesh,
    RayCollisionItem,
    RGBCamera,
    Sensor,
    SensorSet,
    Sphere,
    SpinningLidar,
    Wire,
    World,
)

WORLD = """
exportToXml exportMeshAssetsToObj setTimeStep getTimeStep addSphere addBox addCylinder addCapsule addGround
addCompound addMesh addHeightMap addArticulatedSystem addStiffWire addCompliantWire addCustomWire getObject
getObjectById isObjectAlive getObjList getConstraint getWire getWires removeObject getConfigurationNumber
getConfigFile setObjectCollisionFilter setObjectMaterial captureSingleBodySnapshot restoreSingleBodySnapshot
cloneSingleBodyObject rayTest rayTestLidar captureDepthCamera integrate integrate1 integrate2
integrateNoContactDetection getContactProblem getContactSolver setGravity getGravity updateMaterialProp
setMaterialPairProp setDefaultMaterial getMaterialPairProperties setERP setContactSolverParam
setContactSolverIterationOrder setContactSettings getContactSettings setBroadphaseSettings getBroadphaseSettings
setSleepingEnabled isSleepingEnabled setSleepingParameters getSleepingParameters setSleepingVelocityThresholds
wakeObject wakeAll isObjectSleeping getWorldTime setWorldTime lockMutex unlockMutex updateSelfCollisionCache
setActivationKey
"""
OBJECT = """
getIndexInWorld getId setName getName getObjectType getBodyType getContacts getContactPointVel setExternalForce
setExternalTorque setConstraintForce clearExternalForcesAndTorques getExternalForce getExternalForcePosition
getExternalTorque getExternalTorquePosition getPosition getOrientation getQuaternion getRotationMatrix getVelocity
getLinearVelocity getAngularVelocity getComPosition getBodyToComPosition_rs getMass getInertiaMatrix_B
getInertiaMatrix_W getKineticEnergy getPotentialEnergy getEnergy getLinearMomentum getCollisionGroup
getCollisionMask setAppearance getAppearance
"""
SINGLE_BODY = """
setBodyType setPosition setOrientation setPose setVelocity setLinearVelocity setAngularVelocity setMass setInertia
getCom setCom setLinearDamping setAngularDamping setGyroscopicMode getGyroscopicMode getCollisionBodyList
"""
ARTICULATED_SYSTEM = """
getGeneralizedCoordinate setGeneralizedCoordinate getGeneralizedVelocity setGeneralizedVelocity getState setState
getGeneralizedAcceleration getDOF getGeneralizedVelocityDim getGeneralizedCoordinateDim getNumberOfJoints
getBasePosition getBaseOrientation setBasePos setBaseOrientation setBaseVelocity setBaseAngularVelocity
setGeneralizedForce getGeneralizedForce getFeedForwardGeneralizedForce setControlMode getControlMode setPdTarget
getPdTarget setPTarget setDTarget setPdGains getPdGains setPGains setDGains getMassMatrix getInverseMassMatrix
getNonlinearities computeSparseInverse massMatrixVecMul getCompositeCOM getCompositeInertia getCompositeMass getCOM
getTotalMass getGeneralizedMomentum getAngularMomentum updateKinematics updateMassInfo getFrameByName
getFrameByLinkName getFrameByIdx getFrameIdxByName getFrameIdxByLinkName getFrames getFramePosition
getPositionInFrame getFrameOrientation getFrameVelocity getFrameAngularVelocity getFrameAcceleration getBodyIdx
getBodyNames getBodyPose getBodyPosition getBodyOrientation getPositionInBodyCoordinate getParentVector
getSparseJacobian getSparseRotationalJacobian getDenseJacobian getDenseRotationalJacobian getDenseFrameJacobian
getDenseFrameRotationalJacobian getTimeDerivativeOfSparseJacobian getTimeDerivativeOfSparseRotationalJacobian
convertSparseJacobianToDense getMovableJointNames getGeneralizedVelocityIndex getJointType getJoint getLink
getMappingFromBodyIndexToGeneralizedVelocityIndex getMappingFromBodyIndexToGeneralizedCoordinateIndex getJointPos_P
getJointOrientation_P getJointAxis_P getJointAxis getInertia getBodyCOM_B getBodyCOM_W getCollisionBodies
getCollisionBody setCollisionBodyShapeParameters setCollisionBodyPositionOffset setCollisionBodyOrientationOffset
ignoreCollisionBetween getAllowedNumberOfInternalContactsBetweenTwoBodies
setAllowedNumberOfInternalContactsBetweenTwoBodies getOptions setJointDamping setRotorInertia getRotorInertia
addSpring getSprings setActuationLimits getActuationUpperLimits getActuationLowerLimits setJointLimits
getJointLimits setJointVelocityLimits getJointVelocityLimits getJointLimitViolations setIntegrationScheme
articulatedBodyAlgorithm setComputeInverseDynamics getComputeInverseDynamics getForceAtJointInWorldFrame
getTorqueAtJointInWorldFrame setExternalTorqueInBodyFrame getSensorSet getSensorSets getVisOb getVisColOb
getVisObPose getVisColObPose getResourceDir getRobotDescriptionfFileName getRobotDescriptionfTopDirName
getRobotDescriptionFullPath getRobotDescription exportRobotDescriptionToURDF printOutBodyNamesInOrder
printOutMovableJointNamesInOrder printOutFrameNamesInOrder
"""
HEIGHT_MAP = """
update getNormal getXSamples getYSamples getXSize getYSize getCenterX getCenterY getHeightVector isUpdated
setUpdatedFalse setColor getColorMap getColor
"""
CONTACT = """
getNormal getContactFrame getImpulse getImpulsePtr isObjectA getPairObjectIndex getPairContactIndexInPairObject
getPairObjectBodyType getIndexContactProblem getIndexInObjectContactList getInvInertia getlocalBodyIndex getDepth
isSelfCollision skip getCollisionBodyA getCollisionBodyB
"""
WIRE = """
getLength getDistance getP1 getP2 getBody1 getBody2 getNorm getLocalIdx1 getLocalIdx2 getStretch setStretchType
getStretchType getWireType getOb1MountPos getOb2MountPos setVisualizationWidth getVisualizationWidth getStiffness
getTension setTension
"""
SENSOR = """
getFramePosition getPosInSensorFrame getOriInSensorFrame getFullName getSerialNumber setSerialNumber getType
getUpdateRate setUpdateRate getUpdateTimeStamp setUpdateTimeStamp updatePose getMeasurementSource
setMeasurementSource getFrameId
"""

SINGLE_BODIES = (Sphere, Box, Cylinder, Cone, Capsule, Compound, Mesh, Ground, HeightMap)

INVENTORY = [
    *((World, WORLD),),
    *((kind, OBJECT) for kind in (*SINGLE_BODIES, ArticulatedSystem)),
    *((kind, SINGLE_BODY) for kind in SINGLE_BODIES),
    *((kind, "getRadius") for kind in (Sphere, Cylinder, Cone, Capsule)),
    *((kind, "getHeight") for kind in (Cylinder, Cone, Capsule, Ground)),
    (Box, "getDim"),
    (Mesh, "getMeshFileName"),
    (ArticulatedSystem, ARTICULATED_SYSTEM),
    (HeightMap, HEIGHT_MAP),
    (Contact, CONTACT),
    (Wire, WIRE),
    (Sensor, SENSOR),
    (SensorSet, "getSensor getSerialNumber setSerialNumber"),
    (
        DepthCamera,
        "getProperties updateRayDirections getDepthArray setDepthArray get3DPoints set3DPoints depthToPointCloud "
        "getPrecomputedRayDir",
    ),
    (RGBCamera, "getProperties getImageBuffer setImageBuffer"),
    (IMU, "getLinearAcceleration setLinearAcceleration getAngularVelocity"),
    (SpinningLidar, "getScan"),
    (RayCollisionItem, "getCollisionBody"),
]

# Words that are written in capitals, and a slip that is not repeated.
WORDS = {"DOF": "Dof", "ERP": "Erp", "COM": "Com", "URDF": "Urdf", "3D": "_3d", "getlocal": "getLocal"}


def snake_case(name):
    for word, plain in WORDS.items():
        name = name.replace(word, plain)
    return re.sub(r"(?<=[A-Za-z0-9])(?=[A-Z])", "_", name).lower().replace("__", "_")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("setERP", "set_erp"),
        ("getDOF", "get_dof"),
        ("getCompositeCOM", "get_composite_com"),
        ("setPTarget", "set_p_target"),
        ("getXSamples", "get_x_samples"),
        ("getInertiaMatrix_B", "get_inertia_matrix_b"),
        ("getBodyToComPosition_rs", "get_body_to_com_position_rs"),
        ("exportRobotDescriptionToURDF", "export_robot_description_to_urdf"),
        ("get3DPoints", "get_3d_points"),
        ("integrate1", "integrate1"),
    ],
)
def test_names_are_translated(name, expected):
    assert snake_case(name) == expected


@pytest.mark.parametrize(("kind", "names"), INVENTORY, ids=lambda value: getattr(value, "__name__", ""))
def test_every_name_is_there_and_documented(kind, names):
    wanted = [snake_case(name) for name in names.split()]
    assert [name for name in wanted if not callable(getattr(kind, name, None))] == []
    assert [name for name in wanted if not inspect.getdoc(getattr(kind, name))] == []


@pytest.mark.parametrize(
    ("kind", "method", "arguments"),
    [
        (World, "add_sphere", ["radius", "mass", "material", "collision_group", "collision_mask"]),
        (
            World,
            "add_articulated_system",
            ["file_path_or_urdf_script", "res_path", "joint_order", "collision_group", "collision_mask", "options"],
        ),
        (World, "ray_test", ["start", "direction", "length", "object_id", "local_id", "collision_mask"]),
        (ArticulatedSystem, "set_pd_gains", ["p_gain", "d_gain"]),
        (ArticulatedSystem, "set_actuation_limits", ["upper", "lower"]),
        (ArticulatedSystem, "get_position", ["local_idx", "body_point"]),
        (Box, "get_position", ["local_idx", "body_point"]),
        (Box, "set_constraint_force", ["local_idx", "pos", "force"]),
    ],
)
def test_arguments_come_in_the_order_of_the_reference(kind, method, arguments):
    assert list(inspect.signature(getattr(kind, method)).parameters)[1 : len(arguments) + 1] == arguments
